#pragma once

#include <atomic>
#include <memory>
#include <stop_token>
#include <string>

#include "core/base/clock.h"
#include "core/base/worker.h"
#include "server/alert/outbox.h"
#include "server/api/http/routes.h"
#include "server/api/jobs/job_summary.h"
#include "server/app/fleet_rounds.h"
#include "server/app/pressure_watch.h"
#include "server/app/settings.h"
#include "server/compact/compactor.h"
#include "server/compact/retention.h"
#include "server/edge/edge.h"
#include "server/evaluate/evaluator.h"
#include "server/front/front.h"
#include "server/ingest/ingest.h"
#include "server/ingest/silent_agents.h"
#include "server/postgres/embedded_postgres.h"
#include "server/store/rules/create_job.h"
#include "server/store/schema/database_start.h"
#include "server/store/ticks/block_cache.h"

namespace stepscope {

// The whole service, built bottom up and stopped in reverse order: database, ingest, evaluators,
// compactor, retention, outbox, fleet, housekeeping, HTTP. Use from one thread.
class App {
 public:
  // Serves when it returns. The error is one sentence that names the thing and the way out. Waits
  // for a database that is not up (`settings.database_wait`) as MigrateWhenUp does.
  static Result<std::unique_ptr<App>> Start(const Settings& settings, const Clock& clock,
                                            std::string version, const Pause& pause = SleepOn);
  ~App();

  // The address of the page for people, without a slash at its end.
  const std::string& url() const { return url_; }
  int port() const { return http_->port(); }

  // Reads the TLS files again, for new connections. The log has the outcome; when a file is
  // bad, the old ones stay.
  void ReloadTls();

  // Takes no new connections; running requests get up to 8 s, unless `hurry` is asked for; pushes
  // that came are committed, leases are given back, the database goes down.
  void Stop(std::stop_token hurry = {});

 private:
  App(const Settings& settings, const Clock& clock, std::string version);
  Status ReadRules();
  Status StartDatabase(const Pause& pause);
  Status OpenAlerts();
  void StartWork();
  Status StartHttp(std::vector<Listener> listeners);
  void KeepHouse(const std::stop_token& stop);
  bool KeepHouseOnce(Listening& listening);  // false when agents could not be heard
  void CutDatabase(const std::stop_token& stopped, const std::stop_token& hurry);
  std::string FurtherMetrics() const;

  const Settings settings_;
  const Clock& clock_;
  const std::string version_;
  std::string url_;
  std::atomic<bool> stopping_{false};
  // Members are built in this order and destroyed in reverse.
  std::unique_ptr<EmbeddedPostgres> postgres_;
  std::size_t writers_ = 1;                  // of pushes
  std::unique_ptr<Database> work_database_;  // for ingest, evaluators, outbox, housekeeping
  std::unique_ptr<BlockCache> blocks_;       // blocks read over page_database_
  std::unique_ptr<Database> page_database_;  // for requests, so that pages never starve the work
  std::unique_ptr<SecretBox> secrets_;
  AddressPolicy targets_;
  ProxyTrust proxies_;
  std::vector<NewJob::Rule> default_rules_;  // rules of jobs that name none
  std::unique_ptr<Ingest> ingest_;
  std::unique_ptr<PressureWatch> pressure_;
  std::unique_ptr<Evaluator> evaluator_;
  std::unique_ptr<Compactor> compactor_;
  std::unique_ptr<Retention> retention_;
  std::unique_ptr<Outbox> outbox_;
  std::unique_ptr<FleetRounds> fleet_;
  std::unique_ptr<JobSummaries> summaries_;
  std::unique_ptr<Worker> housekeeping_;
  std::unique_ptr<Access> access_;
  std::unique_ptr<Senders> senders_;
  std::unique_ptr<Api> api_;
  std::unique_ptr<Front> front_;
  std::unique_ptr<Edge> http_;
};

}  // namespace stepscope
