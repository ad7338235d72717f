#include "core/base/random.h"

#include <sys/random.h>

#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace stepscope {

std::string RandomBytes(std::size_t count) {
  std::string bytes(count, '\0');
  for (std::size_t done = 0; done < count;) {
    const ssize_t got = getrandom(bytes.data() + done, count - done, 0);
    if (got < 0 && errno != EINTR) std::abort();  // every kernel that we run on has it
    if (got > 0) done += static_cast<std::size_t>(got);
  }
  return bytes;
}

double RandomShare() {
  std::uint64_t bits = 0;
  std::memcpy(&bits, RandomBytes(sizeof(bits)).data(), sizeof(bits));
  return static_cast<double>(bits >> 11) * 0x1.0p-53;
}

double Stretch() {
  return 0.8 + 0.4 * RandomShare();
}

Duration Around(Duration duration) {
  return Duration(static_cast<Duration::rep>(static_cast<double>(duration.count()) * Stretch()));
}

}  // namespace stepscope
