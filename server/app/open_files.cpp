#include "server/app/open_files.h"

#include <sys/resource.h>

#include <utility>

#include "core/base/log.h"
#include "server/edge/options.h"

namespace stepscope {
namespace {

const rlim_t kWanted = EdgeOptions{}.most_connections + 512;  // and files of the database

}  // namespace

void RaiseOpenFiles() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) return;
  const rlim_t before = std::exchange(limit.rlim_cur, limit.rlim_max);
  if (setrlimit(RLIMIT_NOFILE, &limit) != 0) limit.rlim_cur = before;
  if (limit.rlim_cur >= kWanted) return;
  LogWarning(
      "only {} files may be open, {} are wanted: fewer connections are served at once; raise the "
      "hard limit (ulimit -Hn, LimitNOFILE=16384)",
      limit.rlim_cur, kWanted);
}

}  // namespace stepscope
