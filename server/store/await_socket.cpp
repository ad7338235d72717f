#include "server/store/await_socket.h"

#include <poll.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "core/base/clock.h"

namespace stepscope {

bool AwaitSocket(int descriptor, short events, SteadyTime deadline, int cut) {
  for (;;) {
    const Duration left = std::max<Duration>(deadline - SystemClock().Steady(), 0s);
    const auto millis = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    std::array<pollfd, 2> both{{{descriptor, events, 0}, {cut, POLLIN, 0}}};
    const int ready =
        poll(both.data(), 2, static_cast<int>(std::min<std::int64_t>(millis, 60'000)));
    if (ready > 0) return both[1].revents == 0;
    if (ready < 0 && errno != EINTR) return false;
    if (left == 0s) return false;
  }
}

}  // namespace stepscope
