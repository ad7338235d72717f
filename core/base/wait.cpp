#include "core/base/wait.h"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/text.h"

namespace stepscope {

Result<short> WaitFor(int descriptor, short events, const WaitLimit& limit) {
  const SystemClock clock;
  for (;;) {
    const Duration left = limit.deadline - clock.Steady();
    if (left <= 0ns) return Unavailable("not done within its time");
    const auto wait_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd watched[] = {{descriptor, events, 0}, {limit.stop_event, POLLIN, 0}};
    const int ready = poll(watched, 2, static_cast<int>(std::min<long>(wait_ms, 60'000)));
    if (ready < 0 && errno != EINTR) {
      return Unavailable(Format("poll: {}", std::strerror(errno)));
    }
    if (ready <= 0) continue;
    if (watched[1].revents != 0) return Unavailable("stopped");
    if (watched[0].revents != 0) return watched[0].revents;
  }
}

}  // namespace stepscope
