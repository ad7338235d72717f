#include "server/store/schema/database_start.h"

#include "core/base/clock.h"
#include "core/base/log.h"
#include "server/store/postgres/postgres_session.h"
#include "server/store/schema/migrations.h"

namespace stepscope {
namespace {

constexpr Duration kPause = 200ms;
constexpr Duration kBelieved = 3s;  // a refusal by a server that is up all the time

Status TryMigrate(const std::string& url) {
  const Result<std::unique_ptr<Connection>> connection = Connection::Open(url);
  return connection ? Migrate(**connection) : Status(connection.error());
}

}  // namespace

Status MigrateWhenUp(const std::string& url, Duration patience, const Pause& pause) {
  const SteadyTime until = SystemClock().Steady() + patience;
  SteadyTime seen_away = SystemClock().Steady();
  std::string said;
  for (;;) {
    const Status done = TryMigrate(url);
    if (done || done.error().code != Code::kUnavailable) return done;
    const SteadyTime now = SystemClock().Steady();
    if (!IsDatabaseUp(url)) seen_away = now;
    if (now >= until || now - seen_away >= kBelieved) return done;
    if (done.error().message != said) LogWarning("waiting: {}", said = done.error().message);
    if (!pause(kPause)) return done;
  }
}

}  // namespace stepscope
