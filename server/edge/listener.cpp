#include "server/edge/listener.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>

#include "core/base/text.h"
#include "server/edge/passed_descriptors.h"

namespace stepscope {
namespace {

// As long as there may be connections: a client that finds the queue full is let in a second later
// at best.
constexpr int kBacklog = 4'096;
constexpr mode_t kFileMode = 0660;
constexpr int kTypeFlags = SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK;

void SetOn(int descriptor, int level, int option) {
  const int on = 1;
  setsockopt(descriptor, level, option, &on, sizeof on);
}

Error InUse(const ListenAddress& address) {
  return Conflict(Format("{} is in use by another program; stop it or choose another with --listen",
                         address.text()));
}

Error CannotListen(const ListenAddress& address, int fault) {
  if (fault == EADDRINUSE) return InUse(address);
  return Invalid(Format("cannot listen on {}: {}", address.text(), std::strerror(fault)));
}

sockaddr_un FileAddress(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  return address;
}

// Removes a socket at which nobody listens any more, and no other file.
Status RemoveStale(const ListenAddress& address) {
  struct stat found {};
  if (lstat(address.path.c_str(), &found) != 0) return {};
  if (!S_ISSOCK(found.st_mode)) {
    return Conflict(
        Format("{} is a file that is no socket; choose another with --listen", address.text()));
  }
  const Descriptor probe(socket(AF_UNIX, kTypeFlags, 0));
  const sockaddr_un at = FileAddress(address.path);
  const int answer = connect(probe.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at);
  if (answer == 0 || errno != ECONNREFUSED) return InUse(address);
  return unlink(address.path.c_str()) == 0 ? Status() : CannotListen(address, errno);
}

Result<Descriptor> BindFile(const ListenAddress& address) {
  if (const Status free = RemoveStale(address); !free) return free.error();
  Descriptor bound(socket(AF_UNIX, kTypeFlags, 0));
  const sockaddr_un at = FileAddress(address.path);
  if (!bound || bind(bound.get(), reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0 ||
      chmod(address.path.c_str(), kFileMode) != 0) {
    return CannotListen(address, errno);
  }
  return bound;
}

Result<Descriptor> BindPort(const ListenAddress& address) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  if (getaddrinfo(address.host.c_str(), port.c_str(), &hints, &found) != 0) {
    return Invalid(Format("cannot listen on {}: no such address on this machine", address.text()));
  }
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> addresses(found, freeaddrinfo);
  Descriptor bound(socket(found->ai_family, kTypeFlags, 0));
  // Never SO_REUSEPORT: a second server would take half of the connections.
  SetOn(bound.get(), SOL_SOCKET, SO_REUSEADDR);
  if (found->ai_family == AF_INET6) SetOn(bound.get(), IPPROTO_IPV6, IPV6_V6ONLY);
  if (!bound || bind(bound.get(), found->ai_addr, found->ai_addrlen) != 0) {
    return CannotListen(address, errno);
  }
  return bound;
}

std::string PeerText(const sockaddr_storage& address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (address.ss_family == AF_INET) {
    inet_ntop(AF_INET, &reinterpret_cast<const sockaddr_in&>(address).sin_addr, text.data(),
              text.size());
  } else if (address.ss_family == AF_INET6) {
    inet_ntop(AF_INET6, &reinterpret_cast<const sockaddr_in6&>(address).sin6_addr, text.data(),
              text.size());
  } else {
    return "unix";
  }
  return text.data();
}

}  // namespace

// Connections inherit the refusal of descriptors, so it comes before the first of them.
Result<Listener> Listener::Open(const ListenAddress& address, bool refuse_descriptors) {
  const bool file = !address.path.empty();
  Result<Descriptor> bound = file ? BindFile(address) : BindPort(address);
  if (!bound) return bound.error();
  const bool refused = refuse_descriptors && RefuseDescriptors(bound->get());
  Listener listener(std::move(*bound), address, file && !refused);
  if (listen(listener.descriptor(), kBacklog) != 0) return CannotListen(address, errno);
  return listener;
}

// The file goes first: once the socket is closed, it could be that of the next server.
Listener::~Listener() {
  if (descriptor_ && local_file()) unlink(address_.path.c_str());
}

int Listener::port() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(descriptor(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET) return ntohs(reinterpret_cast<sockaddr_in&>(address).sin_port);
  if (address.ss_family != AF_INET6) return 0;
  return ntohs(reinterpret_cast<sockaddr_in6&>(address).sin6_port);
}

bool Listener::HasNext() const {
  pollfd watched{descriptor(), POLLIN, 0};
  return poll(&watched, 1, 0) > 0;
}

Accepted Listener::Accept() const {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  Accepted accepted;
  accepted.descriptor = Descriptor(accept4(descriptor(), reinterpret_cast<sockaddr*>(&address),
                                           &size, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (!accepted.descriptor) {
    accepted.fault = errno;
    return accepted;
  }
  if (!local_file()) SetOn(accepted.descriptor.get(), IPPROTO_TCP, TCP_NODELAY);
  accepted.peer = PeerText(address);
  return accepted;
}

}  // namespace stepscope
