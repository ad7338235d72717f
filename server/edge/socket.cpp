#include "server/edge/socket.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kBacklog = 1024;
constexpr std::size_t kMostDrained = 8 * 1024 * 1024;  // twice the largest honest body

// Waits for the events; false at the deadline.
bool Poll(int descriptor, short events, SteadyTime deadline) {
  const auto left =
      std::chrono::ceil<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
  if (left.count() <= 0) return false;
  pollfd wait{descriptor, events, 0};
  const int ready = poll(&wait, 1, static_cast<int>(std::min<long>(left.count(), 60'000)));
  return ready > 0 || (ready < 0 && errno == EINTR);
}

bool Again(int fault) {
  return fault == EAGAIN || fault == EWOULDBLOCK || fault == EINTR;
}

void SetOn(int descriptor, int level, int option) {
  const int on = 1;
  setsockopt(descriptor, level, option, &on, sizeof on);
}

Error CannotListen(const std::string& host, int port, int fault) {
  if (fault == EADDRINUSE) {
    return Conflict(
        Format("{}:{} is in use by another program; stop it or choose another with "
               "--listen",
               host, port));
  }
  return Invalid(Format("cannot listen on {}:{}: {}", host, port, std::strerror(fault)));
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::size_t Socket::Read(char* to, std::size_t size, SteadyTime deadline) {
  while (true) {
    const ssize_t got = recv(descriptor_, to, size, 0);
    if (got >= 0) return static_cast<std::size_t>(got);
    if (!Again(errno) || !Poll(descriptor_, POLLIN, deadline)) return 0;
  }
}

bool Socket::Write(std::string_view bytes, SteadyTime deadline) {
  while (!bytes.empty()) {
    const ssize_t put = send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (put > 0) bytes.remove_prefix(static_cast<std::size_t>(put));
    if (put < 0 && (!Again(errno) || !Poll(descriptor_, POLLOUT, deadline))) return false;
  }
  return true;
}

bool Socket::WaitReadable(SteadyTime deadline) const {
  return Poll(descriptor_, POLLIN, deadline);
}

void Socket::Drain(SteadyTime deadline) {
  shutdown(descriptor_, SHUT_WR);
  std::array<char, 16 * 1024> dropped;
  for (std::size_t sum = 0; sum < kMostDrained;) {
    const std::size_t got = Read(dropped.data(), dropped.size(), deadline);
    if (got == 0) return;
    sum += got;
  }
}

void Socket::ShutDown() const {
  shutdown(descriptor_, SHUT_RDWR);
}

std::string Socket::Peer() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  std::array<char, NI_MAXHOST> host{};
  auto* any = reinterpret_cast<sockaddr*>(&address);
  if (getpeername(descriptor_, any, &size) != 0) return "";
  getnameinfo(any, size, host.data(), host.size(), nullptr, 0, NI_NUMERICHOST);
  return host.data();
}

Result<Socket> ListenOn(const std::string& host, int port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  if (getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &found) != 0) {
    return Invalid(Format("cannot listen on {}: no such address on this machine", host));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  Socket socket(::socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (socket.descriptor() < 0) return CannotListen(host, port, errno);
  SetOn(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR);  // never SO_REUSEPORT: a second server
                                                         // would take half of the connections
  if (bind(socket.descriptor(), found->ai_addr, found->ai_addrlen) != 0 ||
      listen(socket.descriptor(), kBacklog) != 0) {
    return CannotListen(host, port, errno);
  }
  return socket;
}

int LocalPort(const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

Result<Socket> AcceptFrom(const Socket& listener) {
  if (!listener.WaitReadable(std::chrono::steady_clock::now() + 1s)) {
    return Unavailable("no connection");
  }
  Socket socket(accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (socket.descriptor() < 0) return Unavailable(std::strerror(errno));
  SetOn(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY);
  return socket;
}

}  // namespace stepscope
