#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/http/url.h"

namespace stepscope {

struct HttpClientOptions {
  Duration connect_limit = 5s;   // TCP and TLS, all addresses together
  Duration request_limit = 30s;  // from Send to the last byte of the answer, connecting included
  std::size_t answer_bytes = 64 * 1024;  // of the answer's body; more is an error
  std::string ca_file{};  // PEM file with the authorities to trust; empty: those of the system
  std::string address{};  // connect to this numeric address, whatever the host's name resolves to
};

using HttpHeaders = std::vector<std::pair<std::string, std::string>>;

struct HttpRequest {
  std::string method = "POST";
  std::string target{};  // path and query; empty: the target of the client's URL
  HttpHeaders headers{};
  std::string body{};
};

struct HttpAnswer {
  int status = 0;
  HttpHeaders headers;
  std::string body;

  // The first header of this name, whatever its case; "" when there is none.
  std::string_view Header(std::string_view name) const;
};

class HttpConnection;

// Sends requests to one server, one at a time, over a connection that is kept while it can be.
//
// Nothing the server does costs more than the limits: every wait ends at an absolute deadline, an
// answer is cut at its limit and never decompressed, redirects are answers like others, proxies of
// the environment are not used. Only the resolver's own limits bound the time of looking up a name.
// Errors are Unavailable and say what happened in one sentence without the URL; Invalid when the
// request itself cannot be sent. Any HTTP status is an answer, not an error.
//
// One thread sends; Stop may be called from any other.
class HttpClient {
 public:
  // Reads the CA file. Errors: Invalid, naming the file.
  static Result<std::unique_ptr<HttpClient>> Make(Url url, HttpClientOptions options = {});
  ~HttpClient();

  Result<HttpAnswer> Send(const HttpRequest& request);

  // Ends a request in flight; every later one fails at once with Unavailable.
  void Stop();

  const Url& url() const { return url_; }

 private:
  struct Tls;

  HttpClient(Url url, HttpClientOptions options);

  Result<HttpAnswer> SendOnce(const HttpRequest& request, SteadyTime deadline, bool& stale);

  const Url url_;
  const HttpClientOptions options_;
  std::unique_ptr<Tls> tls_;  // null for http
  std::unique_ptr<HttpConnection> connection_;
  int stop_event_ = -1;
};

}  // namespace stepscope
