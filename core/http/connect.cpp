#include "core/http/connect.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/clock.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

struct FreeAddress {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using SocketAddress = std::unique_ptr<addrinfo, FreeAddress>;

Error CannotConnect(int error) {
  return Unavailable(Format("cannot connect: {}", std::strerror(error)));
}

// Parses a numeric address, perhaps with a scope id behind it; no resolver is asked.
SocketAddress ReadAddress(const std::string& address, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | AI_NUMERICHOST;
  addrinfo* list = nullptr;
  const int failed = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &list);
  return SocketAddress(failed == 0 ? list : nullptr);
}

Status Finish(int socket, const WaitLimit& limit) {
  auto ready = WaitFor(socket, POLLOUT, limit);
  if (!ready) return ready.error();
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return CannotConnect(error);
  return {};
}

Result<Descriptor> ConnectTo(const std::string& text, std::uint16_t port, const WaitLimit& limit) {
  const SocketAddress address = ReadAddress(text, port);
  if (!address) return Unavailable(Format("cannot connect: '{}' is no address", Printable(text)));
  Descriptor socket(
      ::socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP));
  if (!socket) return Unavailable(Format("cannot open a socket: {}", std::strerror(errno)));
  const int on = 1;
  setsockopt(socket.get(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  if (::connect(socket.get(), address->ai_addr, address->ai_addrlen) == 0) return socket;
  if (errno != EINPROGRESS) return CannotConnect(errno);
  if (Status connected = Finish(socket.get(), limit); !connected) return connected.error();
  return socket;
}

}  // namespace

Result<Descriptor> Connect(const std::vector<std::string>& addresses, std::uint16_t port,
                           const WaitLimit& limit) {
  const SystemClock clock;
  Error last = Unavailable("cannot connect: the host has no address");
  auto untried = static_cast<int>(addresses.size());
  for (const std::string& address : addresses) {
    const SteadyTime now = clock.Steady();
    auto socket =
        ConnectTo(address, port, {now + (limit.deadline - now) / untried, limit.stop_event});
    if (socket) return socket;
    last = socket.error();
    --untried;
  }
  return last;
}

}  // namespace stepscope
