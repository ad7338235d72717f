#pragma once

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "core/base/text.h"

namespace stepscope::test {

struct SeenRequest {
  std::string head;  // request line and headers
  std::string body;
};

// One accepted connection, for a script. Every wait ends when the server is destroyed.
class Peer {
 public:
  Peer(int socket, int stop_event, int which)
      : number(which), socket_(socket), stop_event_(stop_event) {}
  ~Peer() { SSL_free(ssl_); }
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  // Speaks TLS from here on; false when the handshake failed.
  bool StartTls(SSL_CTX* context) {
    fcntl(socket_, F_SETFL, O_NONBLOCK);
    ssl_ = SSL_new(context);
    SSL_set_mode(ssl_, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_set_fd(ssl_, socket_);
    return TlsCall([&] { return SSL_accept(ssl_); }) == 1;
  }
  SSL* ssl() const { return ssl_; }
  // Sends the tickets that SSL_new_session_ticket has made.
  bool WriteTickets() {
    return TlsCall([&] { return SSL_do_handshake(ssl_); }) == 1;
  }

  // The next request; nothing when the client closed.
  std::optional<SeenRequest> Read() {
    std::size_t end;
    while ((end = received_.find("\r\n\r\n")) == std::string::npos) {
      if (!Receive()) return std::nullopt;
    }
    SeenRequest request{received_.substr(0, end), ""};
    received_.erase(0, end + 4);
    const std::size_t length = ContentLength(request.head);
    while (received_.size() < length) {
      if (!Receive()) return std::nullopt;
    }
    request.body = received_.substr(0, length);
    received_.erase(0, length);
    return request;
  }

  // False when the client is gone.
  bool Write(std::string_view bytes) {
    while (!bytes.empty()) {
      const ssize_t count = ssl_ == nullptr ? SendSome(bytes) : TlsCall([&] {
        return SSL_write(ssl_, bytes.data(), static_cast<int>(bytes.size()));
      });
      if (count <= 0) return false;
      bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return true;
  }

  bool Reply(int status, std::string_view body, std::string_view headers = "") {
    return Write(Format("HTTP/1.1 {} X\r\nContent-Length: {}\r\n{}\r\n{}", status, body.size(),
                        headers, body));
  }

  // Waits until the client closes.
  void WaitClosed() {
    while (Receive()) received_.clear();
  }

  // A pause between dripped bytes that ends early with the server.
  bool Pause(int milliseconds) {
    pollfd stop{stop_event_, POLLIN, 0};
    return poll(&stop, 1, milliseconds) == 0;
  }

  // Ends the connection by a reset instead of an orderly close.
  void Reset() {
    const linger now{1, 0};
    setsockopt(socket_, SOL_SOCKET, SO_LINGER, &now, sizeof now);
  }

  const int number;  // 0 for the first connection of the server

 private:
  static std::size_t ContentLength(std::string_view head) {
    const std::size_t at = head.find("Content-Length: ");
    return at == head.npos ? 0 : std::strtoull(head.data() + at + 16, nullptr, 10);
  }

  bool Wait(short events, int milliseconds) {
    pollfd watched[] = {{socket_, events, 0}, {stop_event_, POLLIN, 0}};
    return poll(watched, 2, milliseconds) > 0 && watched[1].revents == 0;
  }

  ssize_t SendSome(std::string_view bytes) {
    if (!Wait(POLLOUT, -1)) return -1;
    return send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
  }

  // Repeats the call until it is done or fails. SIGPIPE is blocked: the library writes without
  // MSG_NOSIGNAL.
  template <typename Call>
  int TlsCall(Call call) {
    sigset_t pipe;
    sigemptyset(&pipe);
    sigaddset(&pipe, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe, nullptr);
    for (;;) {
      ERR_clear_error();
      const int result = call();
      const int error = SSL_get_error(ssl_, result);
      const bool later = error == SSL_ERROR_WANT_READ || error == SSL_ERROR_WANT_WRITE;
      if (!later || !Wait(error == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT, -1)) return result;
    }
  }

  bool Receive() {
    char bytes[65536];
    if (ssl_ == nullptr && !Wait(POLLIN, -1)) return false;
    const ssize_t count = ssl_ == nullptr ? recv(socket_, bytes, sizeof bytes, 0) : TlsCall([&] {
      return SSL_read(ssl_, bytes, static_cast<int>(sizeof bytes));
    });
    if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
    return count > 0;
  }

  const int socket_;
  const int stop_event_;
  SSL* ssl_ = nullptr;
  std::string received_;
};

// A server on a loopback port that runs the test's script for each connection. Each connection has
// its own thread and is closed when the script returns.
class ScriptedServer {
 public:
  using Script = std::function<void(Peer&)>;

  explicit ScriptedServer(Script script, int port = 0, const char* loopback = "127.0.0.1")
      : script_(std::move(script)) {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const int on = 1;
    setsockopt(listener_, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    inet_pton(AF_INET, loopback, &address.sin_addr);
    address.sin_port = htons(static_cast<std::uint16_t>(port));
    socklen_t size = sizeof address;
    if (bind(listener_, reinterpret_cast<sockaddr*>(&address), size) != 0 ||
        listen(listener_, 64) != 0 ||
        getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) != 0) {
      std::abort();
    }
    port_ = ntohs(address.sin_port);
    accepting_ = std::thread([this] { Accept(); });
  }

  ~ScriptedServer() {
    const std::uint64_t one = 1;
    [[maybe_unused]] const auto written = write(stop_event_, &one, sizeof one);
    accepting_.join();
    for (std::thread& thread : serving_) thread.join();
    close(listener_);
    close(stop_event_);
  }

  int port() const { return port_; }
  std::string url(std::string_view path = "") const {
    return Format("http://127.0.0.1:{}{}", port_, path);
  }
  int connections() const { return connections_; }

 private:
  void Accept() {
    for (;;) {
      pollfd watched[] = {{listener_, POLLIN, 0}, {stop_event_, POLLIN, 0}};
      poll(watched, 2, -1);
      if (watched[1].revents != 0) return;
      const int socket = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
      if (socket < 0) continue;
      serving_.emplace_back([this, socket, number = connections_++] {
        Peer peer(socket, stop_event_, number);
        script_(peer);
        close(socket);
      });
    }
  }

  Script script_;
  int listener_ = -1;
  int stop_event_ = eventfd(0, EFD_CLOEXEC);
  int port_ = 0;
  std::atomic<int> connections_ = 0;
  std::vector<std::thread> serving_;
  std::thread accepting_;
};

}  // namespace stepscope::test
