#include "agent/marks/marks_socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <vector>

#include "core/base/text.h"
#include "core/wire/mark_message.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostPathBytes = 100;
constexpr int kBacklog = 128;
constexpr int kMostPassed = 253;  // the kernel's limit: it would close what finds no room here
constexpr int kPassRights = 83;   // SO_PASSRIGHTS, which older headers do not have

struct Address {
  sockaddr_un value{};
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&value); }
};

Result<Address> AddressOf(const std::string& path) {
  if (path.empty() || path.size() >= kMostPathBytes) {
    return Invalid(Format("socket path {}: {} bytes long, allowed are 1 to {}", Printable(path),
                          path.size(), kMostPathBytes - 1));
  }
  Address address;
  address.value.sun_family = AF_UNIX;
  std::memcpy(address.value.sun_path, path.data(), path.size());
  return address;
}

Descriptor NewSocket() {
  return Descriptor(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

Error Failed(const std::string& path, int error) {
  return Invalid(Format("socket {}: {}", Printable(path), strerror(error)));
}

// Removes a socket that a killed agent left behind, and nothing else.
Status RemoveStale(const std::string& path, const Address& address) {
  struct stat file {};
  if (lstat(path.c_str(), &file) != 0) return errno == ENOENT ? Status() : Failed(path, errno);
  if (!S_ISSOCK(file.st_mode)) return Failed(path, ENOTSOCK);
  const Descriptor probe = NewSocket();
  if (connect(probe.get(), address.get(), sizeof(address.value)) == 0 || errno == EAGAIN) {
    return Unavailable(Format("socket {}: another agent listens there", Printable(path)));
  }
  if (errno != ECONNREFUSED) return Failed(path, errno);
  return unlink(path.c_str()) == 0 ? Status() : Failed(path, errno);
}

// Gives every passed descriptor an owner, so that none leaks.
void TakePassed(msghdr& message, std::vector<Descriptor>& passed) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr;
       part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int fd = -1;
      std::memcpy(&fd, CMSG_DATA(part) + i * sizeof(int), sizeof(int));
      passed.emplace_back(fd);
    }
  }
}

}  // namespace

Result<Descriptor> ListenForMarks(const std::string& path, const SocketAccess& access) {
  const Result<Address> address = AddressOf(path);
  if (!address) return address.error();
  if (const Status removed = RemoveStale(path, *address); !removed) return removed.error();
  Descriptor listener = NewSocket();
  if (!listener) return Failed(path, errno);
  if (bind(listener.get(), address->get(), sizeof(address->value)) != 0) {
    return Failed(path, errno);
  }
  const bool shared = !access.group || chown(path.c_str(), uid_t(-1), *access.group) == 0;
  if (!shared || chmod(path.c_str(), access.mode) != 0 || listen(listener.get(), kBacklog) != 0) {
    return Failed(path, errno);
  }
  return listener;
}

Result<MarkPeer> AcceptPeer(const Descriptor& listener) {
  MarkPeer peer;
  // Polls first, because accept makes a socket before it checks whether a peer waits for it.
  pollfd waits{listener.get(), POLLIN, 0};
  if (poll(&waits, 1, 0) == 0) return peer;
  peer.socket = Descriptor(accept4(listener.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
  if (!peer.socket) {
    const bool full = errno == EMFILE || errno == ENFILE || errno == ENOBUFS || errno == ENOMEM;
    if (full) return Unavailable(Format("cannot accept a process: {}", strerror(errno)));
    return peer;
  }
  ucred credentials{};
  socklen_t size = sizeof(credentials);
  if (getsockopt(peer.socket.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size) != 0) {
    return Internal(Format("credentials of a process: {}", strerror(errno)));
  }
  peer.pid = credentials.pid;
  peer.user = credentials.uid;
  peer.group = credentials.gid;
  return peer;
}

Result<MarkPacket> ReceivePacket(const Descriptor& socket, std::vector<Descriptor>& passed) {
  std::array<char, kMaxMarkMessageBytes + 1> bytes;
  alignas(cmsghdr) std::array<char, CMSG_SPACE(kMostPassed * sizeof(int))> control;
  ssize_t length = -1;
  msghdr message{};
  iovec part{bytes.data(), bytes.size()};
  // A peer that left without reading our answer gives ECONNRESET once, before the packets that it
  // had sent.
  for (int attempt = 0; attempt < 3 && length < 0; ++attempt) {
    message = {};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    length = recvmsg(socket.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    if (length < 0 && errno != EINTR && errno != ECONNRESET) break;
  }
  if (length < 0)
    return MarkPacket{errno == EAGAIN ? MarkPacket::kNothing : MarkPacket::kClosed, {}};
  TakePassed(message, passed);
  if (length == 0) return MarkPacket{MarkPacket::kClosed, {}};
  if (static_cast<std::size_t>(length) > kMaxMarkMessageBytes)
    return Invalid("mark message: too long");
  return MarkPacket{MarkPacket::kPacket,
                    std::string(bytes.data(), static_cast<std::size_t>(length))};
}

void TakeNoDescriptors(const Descriptor& socket) {
  const int none = 0;
  setsockopt(socket.get(), SOL_SOCKET, kPassRights, &none, sizeof none);
}

bool SendPacket(const Descriptor& socket, std::string_view bytes) {
  return send(socket.get(), bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL) >= 0;
}

}  // namespace stepscope
