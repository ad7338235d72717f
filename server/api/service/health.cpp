// /healthz and /readyz.

#include "core/base/peer_address.h"
#include "core/base/text.h"
#include "server/access/caller.h"
#include "server/api/http/answer.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/postgres/ballast.h"
#include "server/store/postgres/citus_workers.h"
#include "server/store/schema/migrations.h"

namespace stepscope {
namespace {

constexpr Duration kAtMost = 1s;
constexpr char kLook[] = R"(
select current_setting('transaction_read_only'), coalesce(max(version), 0)
from schema_migrations)";

struct Check {
  std::string_view name;
  bool ok = false;
  std::string detail;
  bool counts = true;  // the service is not ready where it is not ok
};

Check CheckService(const Api& api) {
  if (api.stopping) return {"service", false, "stopping"};
  return {"service", true, "running"};
}

Check Unanswered(const Error& error) {
  std::string_view why = error.message;
  if (why.starts_with("database: ")) why.remove_prefix(10);
  return {"database", false, Format("the database does not answer: {}", why)};
}

// The workers of Citus. One that is away takes its own jobs with it and no others, so the service
// is ready all the same.
Check CheckWorkers(const Api& api, Connection& connection) {
  const auto workers = AskWorkers(connection);
  std::string away;
  const auto name = [&](std::string_view worker) {
    away += Format("{}{}", away.empty() ? "" : ", ", worker);
  };
  if (workers) {
    for (const CitusWorker& worker : *workers) {
      if (!worker.answers) name(std::to_string(worker.node_id));
    }
    if (away.empty()) {
      return {"workers", true, Format("{} of Citus answer", workers->size()), false};
    }
  } else {
    for (const std::string& worker : api.ingest.HangingMachines()) name(worker);
    if (away.empty()) {
      return {"workers", false, Format("not all workers answer: {}", workers.error().message),
              false};
    }
  }
  return {"workers", false,
          Format("these do not answer, by their nodeid in pg_dist_node: {}; jobs whose rows they "
                 "keep wait for them, and no job begins or ends",
                 away),
          false};
}

// Asks through one connection, with a short deadline: the caller must hear that the database hangs.
std::vector<Check> CheckDatabase(const Api& api) {
  const int wanted = Migrations().empty() ? 0 : Migrations().back().version;
  const SteadyTime start = api.clock.Steady();
  Result<Database::Lease> lease = api.database.Acquire(kAtMost, kAtMost);
  const Result<Rows> rows = lease ? (*lease)->Query(kLook) : Result<Rows>(lease.error());
  if (!rows) return {Unanswered(rows.error()), {"migrations", false, "not known"}};
  const auto took = std::chrono::duration<double, std::milli>(api.clock.Steady() - start);
  const bool reads_only = rows->Text(0, 0) == "on";
  const Check answers{"database", !reads_only,
                      reads_only ? "the database takes nothing: it is read-only"
                                 : Format("answers in {:.1f} ms", took.count())};
  const std::int64_t at = rows->Int(0, 1);
  std::vector<Check> checks = {answers, {"migrations", true, Format("at {}", at)}};
  if (at < wanted) checks[1] = {"migrations", false, Format("at {}, {} is wanted", at, wanted)};
  if ((*lease)->distributed()) checks.push_back(CheckWorkers(api, **lease));
  return checks;
}

Check CheckDisk(const Api& api) {
  const Result<Storage> storage = LookAtStorage(api.data_dir);
  if (!storage) return {"disk", false, storage.error().message};
  if (!IsBallastSpent(api.data_dir)) return {"disk", !storage->low(), storage->text()};
  return {"disk", false,
          Format("it was full and the ballast was given up; no frames are taken until there is "
                 "room for it again: {}",
                 storage->text())};
}

Reply AnswerHealth(const Request& request, const PathParameters&) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  return JsonReply({{"status", "ok"}});
}

Reply AnswerReadiness(const Api& api, const Request& request) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  std::vector<Check> all = CheckDatabase(api);
  all.insert(all.begin(), CheckService(api));
  all.push_back(CheckDisk(api));
  bool ready = true;
  OrderedJson checks = OrderedJson::array();
  for (const Check& check : all) {
    ready = ready && (check.ok || !check.counts);
    checks.push_back({{"name", check.name}, {"ok", check.ok}, {"detail", check.detail}});
  }

  OrderedJson json = {{"status", ready ? "ready" : "not-ready"}};
  if (May(request.caller.get(), Right::kObserve, IsThisMachine(request.peer))) {
    json["version"] = api.version;
    json["checks"] = checks;
  }
  return JsonReply(json, ready ? 200 : 503);
}

}  // namespace

std::vector<Route> HealthRoutes(const Api& api) {
  return {{.method = "GET", .pattern = "/healthz", .handler = AnswerHealth, .right = Right::kOpen},
          {.method = "GET",
           .pattern = "/readyz",
           .handler = [&api](const Request& request,
                             const PathParameters&) { return AnswerReadiness(api, request); },
           .right = Right::kProbe}};
}

}  // namespace stepscope
