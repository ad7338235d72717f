#include "core/http/connection.h"

#include <openssl/err.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/http/connect.h"

namespace stepscope {
namespace {

int AtMostOneMiB(std::size_t size) {
  return static_cast<int>(std::min<std::size_t>(size, 1 << 20));
}

bool IsLater(int error) {
  return error == EAGAIN || error == EINTR;
}

}  // namespace

Result<std::unique_ptr<HttpConnection>> HttpConnection::Open(
    const Url& url, const std::vector<std::string>& addresses, TlsClient* tls,
    const WaitLimit& limit) {
  auto socket = Connect(addresses, url.port, limit);
  if (!socket) return socket.error();
  std::unique_ptr<HttpConnection> connection(new HttpConnection(std::move(*socket)));
  if (tls == nullptr) return connection;
  connection->below_tls_.descriptor = connection->socket_.get();
  auto side = tls->Open(url, connection->below_tls_, connection->trouble_);
  if (!side) return side.error();
  connection->tls_ = std::move(*side);
  if (Status done = connection->Handshake(limit); !done) return done.error();
  return connection;
}

// Translates the result of a TLS call; {0, 0} when it failed or the connection has ended.
HttpConnection::Step HttpConnection::TlsStep(int result) const {
  if (result > 0) return {static_cast<std::size_t>(result), 0};
  const int error = SSL_get_error(tls_.get(), result);
  if (error == SSL_ERROR_WANT_READ) return {0, POLLIN};
  if (error == SSL_ERROR_WANT_WRITE) return {0, POLLOUT};
  return {};
}

Status HttpConnection::Handshake(const WaitLimit& limit) {
  below_tls_.deadline = limit.deadline;
  for (;;) {
    ERR_clear_error();
    errno = 0;
    const int result = SSL_connect(tls_.get());
    if (result == 1) return {};
    const Step step = TlsStep(result);
    if (step.events == 0) return TlsError(tls_.get(), result, trouble_);
    auto ready = WaitFor(socket_.get(), step.events, limit);
    if (!ready) return ready.error();
  }
}

HttpConnection::Step HttpConnection::TryWrite(std::string_view bytes) {
  if (tls_) {
    ERR_clear_error();
    return TlsStep(SSL_write(tls_.get(), bytes.data(), AtMostOneMiB(bytes.size())));
  }
  const ssize_t count = send(socket_.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count < 0 && IsLater(errno)) return {0, POLLOUT};
  return {static_cast<std::size_t>(std::max<ssize_t>(count, 0)), 0};
}

// Whether a readable connection has more to read than session tickets.
bool HttpConnection::Answered() {
  if (!tls_) return true;
  char byte;
  ERR_clear_error();
  return TlsStep(SSL_peek(tls_.get(), &byte, 1)).events == 0;
}

Status HttpConnection::Write(std::string_view bytes, const WaitLimit& limit) {
  below_tls_.deadline = limit.deadline;
  while (!bytes.empty() && !broken_) {
    const Step step = TryWrite(bytes);
    bytes.remove_prefix(step.bytes);
    broken_ = step.bytes == 0 && step.events == 0;
    if (step.events == 0) continue;
    auto ready = WaitFor(socket_.get(), static_cast<short>(step.events | POLLIN), limit);
    if (!ready) return ready.error();
    // An answer that arrives before the request is complete is read instead of writing on.
    broken_ = (*ready & POLLIN) != 0 && Answered();
  }
  return {};
}

Result<HttpConnection::Step> HttpConnection::TryRead(char* to, std::size_t size) {
  errno = 0;
  if (!tls_) {
    const ssize_t count = recv(socket_.get(), to, size, 0);
    if (count >= 0) return Step{static_cast<std::size_t>(count), 0};
    if (IsLater(errno)) return Step{0, POLLIN};
    return Unavailable(Format("connection lost: {}", std::strerror(errno)));
  }
  ERR_clear_error();
  const int result = SSL_read(tls_.get(), to, AtMostOneMiB(size));
  const Step step = TlsStep(result);
  const bool failed = step.bytes == 0 && step.events == 0 &&
                      SSL_get_error(tls_.get(), result) != SSL_ERROR_ZERO_RETURN;
  if (failed) return TlsError(tls_.get(), result, trouble_);
  return step;
}

Result<std::size_t> HttpConnection::Read(char* to, std::size_t size, const WaitLimit& limit) {
  below_tls_.deadline = limit.deadline;
  for (;;) {
    const auto step = TryRead(to, size);
    if (!step) return step.error();
    if (step->events == 0) return step->bytes;
    auto ready = WaitFor(socket_.get(), step->events, limit);
    if (!ready) return ready.error();
  }
}

bool HttpConnection::Reusable() {
  if (broken_) return false;
  if (tls_ && SSL_pending(tls_.get()) > 0) return false;
  pollfd watched{socket_.get(), POLLIN, 0};
  if (poll(&watched, 1, 0) == 0) return true;
  below_tls_.deadline = SteadyTime::max();
  return !Answered();
}

}  // namespace stepscope
