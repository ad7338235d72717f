// Preloaded into a server: its first accept4() calls fail, once with each of these errors. Prints a
// line when it is through, so that a test can tell that it was called.

#include <dlfcn.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <string_view>

namespace {

constexpr std::array kFaults = {ECONNABORTED, EPROTO, ENFILE, ENOMEM, EMFILE, ENOBUFS, EPERM};
constexpr std::string_view kThrough = "every fault of accept4 was had\n";

}  // namespace

extern "C" int accept4(int socket, sockaddr* address, socklen_t* length, int flags) {
  static std::atomic<std::size_t> calls{0};
  const std::size_t call = calls++;
  if (call < kFaults.size()) {
    if (call + 1 == kFaults.size()) (void)!write(STDERR_FILENO, kThrough.data(), kThrough.size());
    errno = kFaults[call];
    return -1;
  }
  using Accept = int(int, sockaddr*, socklen_t*, int);
  static const auto real = reinterpret_cast<Accept*>(dlsym(RTLD_NEXT, "accept4"));
  return real(socket, address, length, flags);
}
