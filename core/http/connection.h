#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/base/wait.h"
#include "core/http/tls.h"
#include "core/http/url.h"

namespace stepscope {

// One TCP connection, with TLS or without. Never blocks past its limit and never raises SIGPIPE.
// Errors are Unavailable. For one thread.
class HttpConnection {
 public:
  // To the first of the numeric addresses that takes it. `tls` is null for http, else outlives it.
  // Errors: Invalid too, when a file of `tls` is no good any more.
  static Result<std::unique_ptr<HttpConnection>> Open(const Url& url,
                                                      const std::vector<std::string>& addresses,
                                                      TlsClient* tls, const WaitLimit& limit);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Ends early, and well, when the other side answers or closes before it has read everything: the
  // answer says why.
  Status Write(std::string_view bytes, const WaitLimit& limit);

  // At least one byte, or 0 at the end of the connection.
  Result<std::size_t> Read(char* to, std::size_t size, const WaitLimit& limit);

  // Whether it can carry another request: open, and nothing came unasked.
  bool Reusable();

 private:
  // What one call did: moved bytes, or else the events to wait for; neither: the end.
  struct Step {
    std::size_t bytes = 0;
    short events = 0;
  };

  explicit HttpConnection(Descriptor socket) : socket_(std::move(socket)) {}

  Status Handshake(const WaitLimit& limit);
  Step TryWrite(std::string_view bytes);
  Result<Step> TryRead(char* to, std::size_t size);
  Step TlsStep(int result) const;
  bool Answered();

  const Descriptor socket_;
  TlsSocket below_tls_;
  TlsTrouble trouble_;
  TlsSide tls_;  // null for http
  bool broken_ = false;
};

}  // namespace stepscope
