#pragma once

#include <openssl/ssl.h>

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/http/url.h"

namespace stepscope {

// What every wait watches: an instant of the steady clock, and a descriptor that becomes readable
// when all is to stop.
struct WaitLimit {
  SteadyTime deadline;
  int stop_event = -1;
};

// One TCP connection, with TLS or without. Never blocks past its limit and never raises SIGPIPE.
// Errors are Unavailable. For one thread.
class HttpConnection {
 public:
  // Tries the host's addresses in turn, or only `address`. `tls` may be null for http.
  static Result<std::unique_ptr<HttpConnection>> Open(const Url& url, const std::string& address,
                                                      SSL_CTX* tls, const WaitLimit& limit);
  ~HttpConnection();
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Ends early, and well, when the other side answers or closes before it has read everything: the
  // answer says why.
  Status Write(std::string_view bytes, const WaitLimit& limit);

  // At least one byte, or 0 at the end of the connection.
  Result<std::size_t> Read(char* to, std::size_t size, const WaitLimit& limit);

  // Whether it can carry another request: open, and nothing came unasked.
  bool Reusable() const;

 private:
  HttpConnection(int socket, SSL* ssl) : socket_(socket), ssl_(ssl) {}

  Status Handshake(const WaitLimit& limit);
  Status WriteSome(std::string_view& bytes, const WaitLimit& limit);

  int socket_ = -1;
  SSL* ssl_ = nullptr;
  bool broken_ = false;
};

// Waits until the descriptor has one of the poll events; says which came.
Result<short> WaitFor(int socket, short events, const WaitLimit& limit);

}  // namespace stepscope
