#include "server/api/http/routes.h"

#include <algorithm>
#include <map>
#include <memory>

#include "core/base/guarded.h"
#include "core/base/text.h"
#include "server/access/caller.h"
#include "server/front/problem.h"
#include "server/store/access/audit.h"

namespace stepscope {
namespace {

constexpr char kHangs[] = "database: a machine of the cluster does not answer";

// Calls about jobs of a machine that hangs would take all connections, each for ten seconds.
bool Hangs(const Api& api, const PathParameters& path) {
  const auto job = path.find("name");
  return job != path.end() && api.ingest.Hangs(job->second);
}

// Whoever makes a call, as far as one sender is told from another; "" otherwise.
std::string SenderOf(const Request& request) {
  if (!request.caller || request.caller->how == Caller::kOpen) return "";
  return request.caller->token_id.empty() ? request.caller->name : request.caller->token_id;
}

// Permits for calls that are dear. A sender with a name may have all but one of them.
class Permits {
 public:
  explicit Permits(int most) : most_(most) {}

  bool Take(const std::string& sender) {
    return taken_.Change([&](Taken& taken) {
      const auto own = taken.by_sender.find(sender);
      const bool has_most =
          !sender.empty() && own != taken.by_sender.end() && own->second >= most_ - 1;
      if (taken.all >= most_ || has_most) return false;
      ++taken.all;
      ++taken.by_sender[sender];
      return true;
    });
  }
  void Release(const std::string& sender) {
    taken_.Change([&](Taken& taken) {
      --taken.all;
      if (--taken.by_sender[sender] == 0) taken.by_sender.erase(sender);
    });
  }

 private:
  struct Taken {
    int all = 0;
    std::map<std::string, int> by_sender;
  };
  const int most_;
  Guarded<Taken> taken_;
};

// A permit that was taken; released in the end, whatever a handler throws.
struct Permit {
  Permits& permits;
  std::string sender;
  ~Permit() { permits.Release(sender); }
};

// The name in the path, or the location of the new thing.
std::string TargetOf(const PathParameters& path, const Reply& reply) {
  if (const auto name = path.find("name"); name != path.end()) return name->second;
  if (!path.empty()) return path.begin()->second;
  const auto location =
      std::ranges::find(reply.headers, "Location", &std::pair<std::string, std::string>::first);
  if (location == reply.headers.end()) return "";
  return location->second.substr(location->second.rfind('/') + 1);
}

Result<Reply> Change(const Api& api, Connection& connection, const Request& request,
                     const PathParameters& path, std::string_view action,
                     const DatabaseCall& call) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  Result<Reply> reply = call(api, connection, request, path);
  if (!reply || reply->status >= 300) return reply;
  const Status noted = InsertAudit(
      connection, {0, ToMicros(api.clock.Now()), request.caller->token_id, request.caller->name,
                   std::string(action), TargetOf(path, *reply), request.request_id, request.peer});
  if (!noted) return noted.error();
  if (const Status committed = transaction->Commit(); !committed) return committed.error();
  return reply;
}

}  // namespace

Route ForDatabase(const Api& api, Right right, std::string_view method, std::string_view pattern,
                  DatabaseCall call) {
  return {
      .method = method,
      .pattern = pattern,
      .handler =
          [&api, call = std::move(call)](const Request& request, const PathParameters& parameters) {
            if (Hangs(api, parameters)) return ToReply(Unavailable(kHangs), request);
            Result<Database::Lease> lease = api.database.Acquire();
            if (!lease) return ToReply(lease.error(), request);
            Result<Reply> reply = call(api, **lease, request, parameters);
            return reply ? std::move(*reply) : ToReply(reply.error(), request);
          },
      .right = right};
}

Route Bulk(Route route) {
  route.traffic = Traffic::kBulk;
  return route;
}

Route AtMost(int most, std::string_view what, Route route) {
  // Shared, as routes are copied.
  const auto permits = std::make_shared<Permits>(most);
  route.handler = [call = std::move(route.handler), permits,
                   detail = Format("{} {} are under way, and no more at once; try again", most,
                                   what)](const Request& request, const PathParameters& path) {
    const std::string sender = SenderOf(request);
    if (!permits->Take(sender)) {
      Reply reply = ToReply(Problem{"too-many-requests", detail, {}, {}}, request);
      reply.headers.emplace_back("Retry-After", "2");
      return reply;
    }
    const Permit permit{*permits, sender};
    return call(request, path);
  };
  return route;
}

Route ForChange(const Api& api, Right right, std::string_view method, std::string_view pattern,
                std::string_view action, DatabaseCall call) {
  Route route = ForDatabase(
      api, right, method, pattern,
      [action, call = std::move(call)](const Api& with, Connection& connection,
                                       const Request& request, const PathParameters& path) {
        return Change(with, connection, request, path, action, call);
      });
  if (method != "DELETE") route.traffic = Traffic::kChanges;
  return route;
}

Route Forgetting(Route route, std::function<void(const std::string& id)> forget) {
  route.handler = [change = std::move(route.handler), forget = std::move(forget)](
                      const Request& request, const PathParameters& path) {
    Reply reply = change(request, path);
    forget(path.at("id"));
    return reply;
  };
  return route;
}

std::vector<Route> ApiRoutes(const Api& api) {
  std::vector<Route> routes;
  for (const auto& part :
       {JobRoutes(api),           JobChangeRoutes(api),   RemovalRoutes(api),
        RemovedRoutes(api),       StopRoutes(api),        MetricRoutes(api),
        PercentileRoutes(api),    UsageRoutes(api),       HeatmapRoutes(api),
        SampleRoutes(api),        StepRoutes(api),        WindowRoutes(api),
        RuleRoutes(api),          RulePreviewRoutes(api), RuleTransitionRoutes(api),
        JobEventRoutes(api),      FindingRoutes(api),     DiagnosisRoutes(api),
        ReportRoutes(api),        CompareRoutes(api),     WebhookRoutes(api),
        DeliveryRoutes(api),      TokenRoutes(api),       SessionRoutes(api),
        AuditRoutes(api),         NodeRoutes(api),        IngestRoutes(api),
        HealthRoutes(api),        PrometheusRoutes(api),  WindowAnswerRoutes(api),
        TraceRoutes(api),         JobStatusRoutes(api),   FleetRoutes(api),
        MetricsCatalogRoutes(api)}) {
    routes.insert(routes.end(), part.begin(), part.end());
  }
  const auto batch = BatchRoutes(api.clock, routes);
  routes.insert(routes.end(), batch.begin(), batch.end());
  return routes;
}

}  // namespace stepscope
