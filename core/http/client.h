#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/event.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/http/lookup.h"
#include "core/http/tls.h"
#include "core/http/url.h"

namespace stepscope {

struct HttpClientOptions {
  Duration connect_limit = 5s;   // TCP and TLS, all addresses together
  Duration request_limit = 30s;  // from Send to the last byte of the answer, connecting included
  std::size_t answer_bytes = 64 * 1024;  // bound of the answer's body
  bool cut_answer = false;               // truncate a longer body; otherwise it is an error
  TlsOptions tls{};
  // Numeric addresses to connect to instead of resolving the host's name.
  std::vector<std::string> addresses{};
  Resolver resolve = ResolveHost;
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

// Gives the bytes of a body from there on, as many as fit. It may be asked again from the first.
using ReadBodyAt = std::function<std::size_t(std::uint64_t at, std::span<char> into)>;

struct HttpRequest {
  std::string method = "POST";
  std::string target{};  // path and query; empty: the target of the client's URL
  HttpHeaders headers{};
  std::string body{};
  // In place of `body`, one that is too large for memory: so many bytes, read as they are sent.
  ReadBodyAt read_body{};
  std::uint64_t body_bytes = 0;
};

struct HttpAnswer {
  int status = 0;
  HttpHeaders headers;
  std::string body;

  // The first header of this name, whatever its case; "" when there is none.
  std::string_view Header(std::string_view name) const;

  // The Retry-After of the answer, in seconds and at most `most`; 0 when it has none, or a date.
  Duration RetryAfter(Duration most) const;
};

class HttpConnection;

// Sends requests to one server, one at a time, over a connection that is kept while it can be.
//
// Nothing the server does costs more than the limits: every wait, that for the resolver among them,
// ends at an absolute deadline, an answer is cut at its limit and never decompressed, redirects are
// answers like others, proxies of the environment are not used. TLS files are read again after a
// failure, so that replaced ones are used. Errors are Unavailable and say what happened in one
// sentence without the URL; Invalid when the request itself cannot be sent. Any HTTP status is an
// answer, not an error.
//
// One thread sends; Stop may be called from any other.
class HttpClient {
 public:
  // Reads the TLS files. Invalid names the file that is at fault.
  static Result<std::unique_ptr<HttpClient>> Make(Url url, HttpClientOptions options = {});
  ~HttpClient();

  Result<HttpAnswer> Send(const HttpRequest& request);

  // Ends a request in flight; every later request fails at once with Unavailable.
  void Stop();

  const Url& url() const { return url_; }

 private:
  HttpClient(Url url, HttpClientOptions options);

  Result<std::unique_ptr<HttpConnection>> Connect(SteadyTime deadline);
  Result<HttpAnswer> SendOnce(const HttpRequest& request, SteadyTime deadline, bool& stale);

  const Url url_;
  const HttpClientOptions options_;
  NameLookup lookup_;
  std::unique_ptr<TlsClient> tls_;  // null for http, and after a failure
  std::unique_ptr<HttpConnection> connection_;
  const Event stop_;
};

}  // namespace stepscope
