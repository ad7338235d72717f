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
  // Connects to the first of the numeric addresses that accepts. `tls` is null for http, else
  // outlives the connection. Invalid, too, when a file of `tls` is no longer usable.
  static Result<std::unique_ptr<HttpConnection>> Open(const Url& url,
                                                      const std::vector<std::string>& addresses,
                                                      TlsClient* tls, const WaitLimit& limit);
  HttpConnection(const HttpConnection&) = delete;
  HttpConnection& operator=(const HttpConnection&) = delete;

  // Ends early, without an error, when the peer answers or closes before it has read everything:
  // the answer says why.
  Status Write(std::string_view bytes, const WaitLimit& limit);

  // Reads at least one byte; 0 at the end of the connection.
  Result<std::size_t> Read(char* to, std::size_t size, const WaitLimit& limit);

  // Whether the connection can carry another request: open, and without unread bytes.
  bool Reusable();

 private:
  // The result of one call: bytes moved, or else the events to wait for; neither at the end.
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
