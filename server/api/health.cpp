// /healthz and /readyz.

#include "core/base/peer_address.h"
#include "core/base/text.h"
#include "server/access/caller.h"
#include "server/api/answer.h"
#include "server/api/query.h"
#include "server/api/routes.h"
#include "server/front/storage.h"
#include "server/store/migrations.h"

namespace stepscope {
namespace {

struct Check {
  std::string_view name;
  bool ok = false;
  std::string detail;
};

Check CheckService(const Api& api) {
  if (api.stopping) return {"service", false, "stopping"};
  return {"service", true, "running"};
}

Check CheckDatabase(const Api& api) {
  const SteadyTime start = api.clock.Steady();
  Result<Database::Lease> lease = api.database.Acquire();
  const Result<Rows> rows = lease ? (*lease)->Query("select 1") : Result<Rows>(lease.error());
  if (!rows) return {"database", false, "the database does not answer"};
  const auto took = std::chrono::duration<double, std::milli>(api.clock.Steady() - start);
  return {"database", true, Format("answers in {:.1f} ms", took.count())};
}

Check CheckMigrations(const Api& api) {
  const int wanted = Migrations().empty() ? 0 : Migrations().back().version;
  Result<Database::Lease> lease = api.database.Acquire();
  const Result<Rows> rows =
      lease ? (*lease)->Query("select coalesce(max(version), 0) from schema_migrations")
            : Result<Rows>(lease.error());
  if (!rows || rows->empty()) return {"migrations", false, "not known"};
  const std::int64_t at = rows->Int(0, 0);
  if (at >= wanted) return {"migrations", true, Format("at {}", at)};
  return {"migrations", false, Format("at {}, {} is wanted", at, wanted)};
}

Check CheckDisk(const Api& api) {
  const Result<Storage> storage = LookAtStorage(api.data_dir);
  if (!storage) return {"disk", false, storage.error().message};
  return {"disk", !storage->low(), storage->text()};
}

Reply AnswerHealth(const Request& request, const PathParameters&) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  return JsonReply({{"status", "ok"}});
}

Reply AnswerReadiness(const Api& api, const Request& request) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  bool ready = true;
  OrderedJson checks = OrderedJson::array();
  for (const Check& check :
       {CheckService(api), CheckDatabase(api), CheckMigrations(api), CheckDisk(api)}) {
    ready = ready && check.ok;
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
