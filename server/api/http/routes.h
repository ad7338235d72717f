#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "core/base/clock.h"
#include "core/base/result.h"
#include "server/access/access.h"
#include "server/access/senders.h"
#include "server/front/route.h"
#include "server/ingest/ingest.h"
#include "server/store/postgres/database.h"
#include "server/store/rules/create_job.h"

namespace stepscope {

class FleetTable;
class JobSummaries;

// The parts that handlers work with. Outlives the server that calls them.
struct Api {
  Database& database;
  const Clock& clock;
  Ingest& ingest;
  JobSummaries& summaries;
  FleetTable& fleet;
  Access& access;
  Senders& senders;
  std::string public_url;  // without a slash at its end
  std::string version;
  std::string data_dir;                     // whose free space counts
  std::vector<NewJob::Rule> default_rules;  // rules of jobs that name none
  // Seals a webhook's secret for the database.
  std::function<Result<std::string>(const std::string&)> seal;
  // Whether messages may go to this URL; the error says why not.
  std::function<Status(const std::string&)> check_target;
  std::function<std::string()> further_metrics;  // Prometheus text of the other parts
  const std::atomic<bool>& stopping;
};

// A handler that needs the database: its error becomes a problem, and a database that is away 503.
using DatabaseCall =
    std::function<Result<Reply>(const Api&, Connection&, const Request&, const PathParameters&)>;
Route ForDatabase(const Api& api, Right right, std::string_view method, std::string_view pattern,
                  DatabaseCall call);

// A call that programs use to read much: refused first when the service is short.
Route Bulk(Route route);

// At most so many calls at once, and one less of a sender with a name: further ones get 429, and
// take neither a connection nor a place in the queue. `what` names the calls in the plural.
Route AtMost(int most, std::string_view what, Route route);

// A ForDatabase call that changes something: it is one transaction, together with a row that names
// the caller (`action`: "webhook.create"). Rolled back when the answer is not a success. On a disk
// that is nearly full only DELETE is answered.
Route ForChange(const Api& api, Right right, std::string_view method, std::string_view pattern,
                std::string_view action, DatabaseCall call);

// Forgets what this process remembers when the change is committed, not before: another request
// could remember it once more. `forget` gets the {id} of the path.
Route Forgetting(Route route, std::function<void(const std::string& id)> forget);

// All calls, in the order of openapi.yaml.
std::vector<Route> ApiRoutes(const Api& api);

// One function and one file for each resource.
std::vector<Route> JobRoutes(const Api& api);
std::vector<Route> JobStatusRoutes(const Api& api);
std::vector<Route> JobChangeRoutes(const Api& api);
std::vector<Route> RemovalRoutes(const Api& api);
std::vector<Route> RemovedRoutes(const Api& api);
std::vector<Route> StopRoutes(const Api& api);
std::vector<Route> MetricRoutes(const Api& api);
std::vector<Route> MetricsCatalogRoutes(const Api& api);
std::vector<Route> PercentileRoutes(const Api& api);
std::vector<Route> UsageRoutes(const Api& api);
std::vector<Route> HeatmapRoutes(const Api& api);
std::vector<Route> StepRoutes(const Api& api);
std::vector<Route> WindowRoutes(const Api& api);
std::vector<Route> WindowAnswerRoutes(const Api& api);
std::vector<Route> TraceRoutes(const Api& api);
std::vector<Route> RuleRoutes(const Api& api);
std::vector<Route> RulePreviewRoutes(const Api& api);
std::vector<Route> RuleTransitionRoutes(const Api& api);
std::vector<Route> JobEventRoutes(const Api& api);
std::vector<Route> FindingRoutes(const Api& api);
std::vector<Route> DiagnosisRoutes(const Api& api);
std::vector<Route> ReportRoutes(const Api& api);
std::vector<Route> CompareRoutes(const Api& api);
std::vector<Route> FleetRoutes(const Api& api);
std::vector<Route> WebhookRoutes(const Api& api);
std::vector<Route> DeliveryRoutes(const Api& api);
std::vector<Route> TokenRoutes(const Api& api);
std::vector<Route> SessionRoutes(const Api& api);
std::vector<Route> AuditRoutes(const Api& api);
std::vector<Route> NodeRoutes(const Api& api);
std::vector<Route> SampleRoutes(const Api& api);
std::vector<Route> IngestRoutes(const Api& api);
std::vector<Route> HealthRoutes(const Api& api);
std::vector<Route> PrometheusRoutes(const Api& api);
// Several of these other calls in one request.
std::vector<Route> BatchRoutes(const Clock& clock, std::vector<Route> others);

// The web UI, at addresses without a route.
Reply AnswerStatic(const Request& request);

}  // namespace stepscope
