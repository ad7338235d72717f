#include "agent/app/job/live_socket.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "core/base/text.h"
#include "core/base/wait.h"

namespace stepscope {
namespace {

constexpr Duration kBetween = 20ms;
constexpr Duration kPatience = 200ms;
constexpr int kMostBytes = 256 * 1024;

void SendText(const Descriptor& listener, const Closer& closer,
              const std::function<std::string()>& text) {
  auto peer = AcceptPeer(listener);
  if (!peer || !peer->socket) return;
  // A packet is sent as a whole or not at all.
  setsockopt(peer->socket.get(), SOL_SOCKET, SO_SNDBUF, &kMostBytes, sizeof kMostBytes);
  SendPacket(peer->socket, text());
  shutdown(peer->socket.get(), SHUT_RDWR);
  closer.Close(peer->user, std::move(peer->socket));
}

}  // namespace

Result<std::unique_ptr<LiveSocket>> LiveSocket::Start(const std::string& path,
                                                      const SocketAccess& access,
                                                      std::function<std::string()> text) {
  auto listener = ListenForMarks(path, access);
  if (!listener) return listener.error();
  TakeNoDescriptors(*listener);
  return std::unique_ptr<LiveSocket>(new LiveSocket(path, std::move(*listener), std::move(text)));
}

LiveSocket::LiveSocket(std::string path, Descriptor listener, std::function<std::string()> text)
    : path_(std::move(path)),
      listener_(std::move(listener)),
      text_(std::move(text)),
      worker_("live", [this](std::stop_token stop) { Run(std::move(stop)); }) {}

LiveSocket::~LiveSocket() {
  worker_ = Worker();
  unlink(path_.c_str());
  closer_.Close(geteuid(), std::move(listener_));
}

void LiveSocket::Run(std::stop_token stop) {
  const std::stop_callback wake(stop, [this] { shutdown(listener_.get(), SHUT_RDWR); });
  while (!stop.stop_requested()) {
    pollfd watched{listener_.get(), POLLIN, 0};
    poll(&watched, 1, -1);
    if (stop.stop_requested()) return;
    SendText(listener_, closer_, text_);
    if (!SleepFor(stop, kBetween)) return;
  }
}

Result<std::string> AskAgent(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) return Invalid("socket path: too long");
  path.copy(address.sun_path, path.size());
  const Descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  TakeNoDescriptors(socket);
  const auto* name = reinterpret_cast<const sockaddr*>(&address);
  if (connect(socket.get(), name, sizeof address) != 0) {
    return Unavailable(Format("{}: {}", Printable(path), std::strerror(errno)));
  }
  const WaitLimit limit{std::chrono::steady_clock::now() + kPatience};
  if (const auto ready = WaitFor(socket.get(), POLLIN, limit); !ready) return ready.error();
  std::string text(kMostBytes, '\0');
  const ssize_t length = recv(socket.get(), text.data(), text.size(), MSG_DONTWAIT);
  if (length <= 0) return Unavailable(Format("{}: says nothing", Printable(path)));
  text.resize(static_cast<std::size_t>(length));
  return text;
}

}  // namespace stepscope
