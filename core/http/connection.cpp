#include "core/http/connection.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

Error SocketError(std::string_view what, int error) {
  return Unavailable(Format("{}: {}", what, std::strerror(error)));
}

struct FreeAddresses {
  void operator()(addrinfo* list) const { freeaddrinfo(list); }
};
using Addresses = std::unique_ptr<addrinfo, FreeAddresses>;

Result<Addresses> LookUp(const std::string& host, std::uint16_t port) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (IsNumericHost(host) ? AI_NUMERICHOST : 0);
  addrinfo* list = nullptr;
  const int error = getaddrinfo(host.c_str(), std::to_string(port).c_str(), &hints, &list);
  if (error != 0) {
    return Unavailable(Format("host '{}' not found: {}", Printable(host), gai_strerror(error)));
  }
  return Addresses(list);
}

Status FinishConnect(int socket, const WaitLimit& limit) {
  auto ready = WaitFor(socket, POLLOUT, limit);
  if (!ready) return ready.error();
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &size);
  if (error != 0) return SocketError("cannot connect", error);
  return {};
}

Result<int> ConnectTo(const addrinfo& address, const WaitLimit& limit) {
  const int socket =
      ::socket(address.ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, IPPROTO_TCP);
  if (socket < 0) return SocketError("cannot open a socket", errno);
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  const bool done = ::connect(socket, address.ai_addr, address.ai_addrlen) == 0;
  Status connected;
  if (!done) {
    connected = errno == EINPROGRESS ? FinishConnect(socket, limit)
                                     : Status(SocketError("cannot connect", errno));
  }
  if (connected) return socket;
  close(socket);
  return connected.error();
}

Result<int> ConnectAny(const addrinfo* list, const WaitLimit& limit) {
  Error last = Unavailable("cannot connect: the host has no address");
  for (; list != nullptr; list = list->ai_next) {
    auto socket = ConnectTo(*list, limit);
    if (socket) return socket;
    last = socket.error();
  }
  return last;
}

SSL* NewSession(SSL_CTX* tls, const Url& url, int socket) {
  SSL* ssl = SSL_new(tls);
  if (ssl == nullptr) return nullptr;
  SSL_set_fd(ssl, socket);
  if (IsNumericHost(url.host)) {
    X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), url.host.c_str());
  } else {
    SSL_set1_host(ssl, url.host.c_str());
    SSL_set_tlsext_host_name(ssl, url.host.c_str());
  }
  return ssl;
}

// Of the calls that may raise it, SSL_write writes without MSG_NOSIGNAL.
class PipeSignalBlocked {
 public:
  PipeSignalBlocked() {
    sigemptyset(&pipe_);
    sigaddset(&pipe_, SIGPIPE);
    pthread_sigmask(SIG_BLOCK, &pipe_, &before_);
  }
  ~PipeSignalBlocked() {
    if (sigismember(&before_, SIGPIPE)) return;
    const timespec none{};
    while (sigtimedwait(&pipe_, nullptr, &none) < 0 && errno == EINTR) {
    }
    pthread_sigmask(SIG_SETMASK, &before_, nullptr);
  }

 private:
  sigset_t pipe_, before_;
};

// The poll events that a TLS call waits for; 0 when it failed.
short WantedEvents(SSL* ssl, int result) {
  const int error = SSL_get_error(ssl, result);
  if (error == SSL_ERROR_WANT_READ) return POLLIN;
  if (error == SSL_ERROR_WANT_WRITE) return POLLOUT;
  return 0;
}

Error TlsError(SSL* ssl) {
  const long verified = SSL_get_verify_result(ssl);
  if (verified != X509_V_OK) {
    return Unavailable(Format("TLS: {}", X509_verify_cert_error_string(verified)));
  }
  const char* reason = ERR_reason_error_string(ERR_peek_last_error());
  return Unavailable(Format("TLS: {}", reason != nullptr ? reason : "connection closed"));
}

}  // namespace

Result<short> WaitFor(int socket, short events, const WaitLimit& limit) {
  const SystemClock clock;
  for (;;) {
    const Duration left = limit.deadline - clock.Steady();
    if (left <= 0ns) return Unavailable("not done within its time");
    const auto wait_ms = std::chrono::ceil<std::chrono::milliseconds>(left).count();
    pollfd watched[] = {{socket, events, 0}, {limit.stop_event, POLLIN, 0}};
    const int ready = poll(watched, 2, static_cast<int>(std::min<long>(wait_ms, 60'000)));
    if (ready < 0 && errno != EINTR) return SocketError("poll", errno);
    if (ready <= 0) continue;
    if (watched[1].revents != 0) return Unavailable("stopped");
    if (watched[0].revents != 0) return watched[0].revents;
  }
}

Result<std::unique_ptr<HttpConnection>> HttpConnection::Open(const Url& url,
                                                             const std::string& address,
                                                             SSL_CTX* tls, const WaitLimit& limit) {
  auto addresses = LookUp(address.empty() ? url.host : address, url.port);
  if (!addresses) return addresses.error();
  auto socket = ConnectAny(addresses->get(), limit);
  if (!socket) return socket.error();
  SSL* ssl = tls != nullptr ? NewSession(tls, url, *socket) : nullptr;
  std::unique_ptr<HttpConnection> connection(new HttpConnection(*socket, ssl));
  if (tls == nullptr) return connection;
  if (ssl == nullptr) return Internal("TLS: out of memory");
  if (Status done = connection->Handshake(limit); !done) return done.error();
  return connection;
}

HttpConnection::~HttpConnection() {
  // No closing alert: it could block, and every answer has its own length.
  if (ssl_ != nullptr) SSL_free(ssl_);
  close(socket_);
}

Status HttpConnection::Handshake(const WaitLimit& limit) {
  const PipeSignalBlocked blocked;
  for (;;) {
    ERR_clear_error();
    const int result = SSL_connect(ssl_);
    if (result == 1) return {};
    const short events = WantedEvents(ssl_, result);
    if (events == 0) return TlsError(ssl_);
    auto ready = WaitFor(socket_, events, limit);
    if (!ready) return ready.error();
  }
}

Status HttpConnection::WriteSome(std::string_view& bytes, const WaitLimit& limit) {
  short events = 0;
  ssize_t count = 0;
  if (ssl_ != nullptr) {
    const PipeSignalBlocked blocked;
    ERR_clear_error();
    count = SSL_write(ssl_, bytes.data(),
                      static_cast<int>(std::min<std::size_t>(bytes.size(), 1 << 20)));
    if (count <= 0) events = WantedEvents(ssl_, static_cast<int>(count));
  } else {
    count = send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    // An answer that comes before we are done is read instead of writing on.
    if (count < 0 && (errno == EAGAIN || errno == EINTR)) events = POLLOUT | POLLIN;
  }
  if (count > 0) return bytes.remove_prefix(static_cast<std::size_t>(count)), Status();
  broken_ = events == 0;
  if (broken_) return {};
  auto ready = WaitFor(socket_, events, limit);
  if (!ready) return ready.error();
  broken_ = ssl_ == nullptr && (*ready & POLLIN) != 0;
  return {};
}

Status HttpConnection::Write(std::string_view bytes, const WaitLimit& limit) {
  while (!bytes.empty() && !broken_) {
    if (Status wrote = WriteSome(bytes, limit); !wrote) return wrote;
  }
  return {};
}

Result<std::size_t> HttpConnection::Read(char* to, std::size_t size, const WaitLimit& limit) {
  for (;;) {
    short events = POLLIN;
    ssize_t count = 0;
    if (ssl_ != nullptr) {
      const PipeSignalBlocked blocked;
      ERR_clear_error();
      count = SSL_read(ssl_, to, static_cast<int>(std::min<std::size_t>(size, 1 << 20)));
      if (count <= 0 && SSL_get_error(ssl_, static_cast<int>(count)) == SSL_ERROR_ZERO_RETURN) {
        return std::size_t{0};
      }
      if (count <= 0) events = WantedEvents(ssl_, static_cast<int>(count));
      if (events == 0) return TlsError(ssl_);
    } else {
      count = recv(socket_, to, size, 0);
      if (count == 0) return std::size_t{0};
      if (count < 0 && errno != EAGAIN && errno != EINTR) {
        return SocketError("connection lost", errno);
      }
    }
    if (count > 0) return static_cast<std::size_t>(count);
    auto ready = WaitFor(socket_, events, limit);
    if (!ready) return ready.error();
  }
}

bool HttpConnection::Reusable() const {
  if (broken_) return false;
  pollfd watched{socket_, POLLIN, 0};
  return poll(&watched, 1, 0) == 0 && (ssl_ == nullptr || SSL_pending(ssl_) == 0);
}

}  // namespace stepscope
