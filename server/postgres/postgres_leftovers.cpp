#include "server/postgres/postgres_leftovers.h"

#include <signal.h>
#include <unistd.h>

#include <filesystem>
#include <thread>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "server/postgres/postgres_process.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

bool AwaitNobody(const std::string& cluster, pid_t server, Duration at_most) {
  const SteadyTime until = SystemClock().Steady() + at_most;
  while (!PostgresIn(cluster, server).empty()) {
    if (SystemClock().Steady() >= until) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  return true;
}

void SignalAll(const std::string& cluster, pid_t server, int signal) {
  for (const pid_t pid : PostgresIn(cluster, server)) kill(pid, signal);
}

// Asks the server to end, then everyone, then kills. Backends whose server died keep the shared
// memory, and a new server does not start beside them.
Status EndEveryone(const std::string& cluster, pid_t server) {
  const std::vector<pid_t> left = PostgresIn(cluster, server);
  if (left.empty()) return {};
  LogWarning("{}: ending {} processes of an earlier server", cluster, left.size());
  for (const pid_t pid : left) {
    if (pid == server) kill(pid, SIGINT);
  }
  if (AwaitNobody(cluster, server, 10s)) return {};
  SignalAll(cluster, server, SIGQUIT);
  if (AwaitNobody(cluster, server, 5s)) return {};
  SignalAll(cluster, server, SIGKILL);
  if (AwaitNobody(cluster, server, 5s)) return {};
  const std::vector<pid_t> stuck = PostgresIn(cluster, server);
  return Unavailable(Format("{}: process {} of an earlier server cannot be ended", cluster,
                            stuck.empty() ? 0 : stuck.front()));
}

}  // namespace

Result<std::string> ClearLeftovers(const PostgresFolder& folder) {
  const std::string cluster = folder.cluster();
  const std::string pid_path = cluster + "/postmaster.pid";
  const pid_t server = ServerOf(cluster);
  if (Status ended = EndEveryone(cluster, server); !ended) return ended.error();
  std::error_code error;
  for (const char* name : {"/.s.PGSQL.5432", "/.s.PGSQL.5432.lock"}) {
    fs::remove(folder.socket_dir() + name,
               error);  // nobody listens: this process has the folder's lock
  }
  if (!fs::exists(pid_path, error)) return std::string();
  if (fs::file_size(pid_path, error) == 0) {
    fs::remove(pid_path, error);  // PostgreSQL refuses an empty file
    return std::string();
  }
  if (server == 0 || !IsTaken(server)) return std::string();
  // The process is not known as PostgreSQL, or it would have been ended. It may be PostgreSQL all
  // the same, under an unknown name, or a shell that got the number by chance. Two servers on a
  // cluster corrupt it, and a stranger who is ended loses work; a service that waits and names the
  // process harms neither.
  if (WorksIn(server, cluster)) {
    return Unavailable(
        Format("{0}: process {1} works in this folder and has the number in "
               "postmaster.pid; end it, or let it leave the folder",
               cluster, server));
  }
  return Format("PG_GRANDPARENT_PID={}", server);
}

}  // namespace stepscope
