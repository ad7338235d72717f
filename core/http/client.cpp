#include "core/http/client.h"

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/http/connection.h"
#include "core/http/exchange.h"

namespace stepscope {
namespace {

bool HoldsControl(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

Status CheckRequest(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "POST") {
    return Invalid(Format("HTTP method '{}': only GET and POST", Printable(request.method)));
  }
  if (!request.target.empty() && (request.target[0] != '/' || HoldsControl(request.target) ||
                                  request.target.find(' ') != std::string::npos)) {
    return Invalid(Format("HTTP target '{}' is not a path", Printable(request.target)));
  }
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || HoldsControl(name) || name.find(':') != std::string::npos ||
        HoldsControl(value)) {
      return Invalid(Format("HTTP header '{}' has a control character", Printable(name)));
    }
  }
  return {};
}

}  // namespace

std::string_view HttpAnswer::Header(std::string_view name) const {
  for (const auto& [given, value] : headers) {
    if (SameName(given, name)) return value;
  }
  return {};
}

Duration HttpAnswer::RetryAfter(Duration most) const {
  const std::string_view text = Trim(Header("Retry-After"));
  const auto seconds = text.size() <= 9 ? ParseInt(text, "Retry-After") : Result<std::int64_t>(0);
  if (!seconds || *seconds <= 0) return {};
  return std::min<Duration>(std::chrono::seconds(*seconds), most);
}

Result<std::unique_ptr<HttpClient>> HttpClient::Make(Url url, HttpClientOptions options) {
  for (const std::string& address : options.addresses) {
    if (IsNumericHost(address)) continue;
    return Invalid(Format("pinned address '{}' is no IP address", Printable(address)));
  }
  std::unique_ptr<HttpClient> client(new HttpClient(std::move(url), std::move(options)));
  if (!client->stop_) return Internal("HTTP client: no event descriptor");
  if (!client->url_.secure) return client;
  auto tls = TlsClient::Make(client->options_.tls);
  if (!tls) return tls.error();
  client->tls_ = std::move(*tls);
  return client;
}

HttpClient::HttpClient(Url url, HttpClientOptions options)
    : url_(std::move(url)), options_(std::move(options)), lookup_(options_.resolve) {}

HttpClient::~HttpClient() = default;

void HttpClient::Stop() {
  stop_.Set();
}

Result<HttpAnswer> HttpClient::Send(const HttpRequest& request) {
  if (Status good = CheckRequest(request); !good) return good.error();
  const SteadyTime deadline = SystemClock().Steady() + options_.request_limit;
  bool stale = false;
  auto answer = SendOnce(request, deadline, stale);
  // A kept connection may be closed by the peer just when we use it.
  if (!answer && stale) answer = SendOnce(request, deadline, stale);
  return answer;
}

Result<std::unique_ptr<HttpConnection>> HttpClient::Connect(SteadyTime deadline) {
  const WaitLimit limit{std::min(deadline, SystemClock().Steady() + options_.connect_limit),
                        stop_.descriptor()};
  if (url_.secure && !tls_) {
    auto tls = TlsClient::Make(options_.tls);
    if (!tls) return Unavailable(tls.error().message);
    tls_ = std::move(*tls);
  }
  auto addresses =
      options_.addresses.empty() ? lookup_.Find(url_.host, limit) : Result(options_.addresses);
  if (!addresses) return addresses.error();
  auto opened = HttpConnection::Open(url_, *addresses, tls_.get(), limit);
  if (opened) return opened;
  tls_.reset();  // the next attempt reads its files again
  return Unavailable(opened.error().message);
}

Result<HttpAnswer> HttpClient::SendOnce(const HttpRequest& request, SteadyTime deadline,
                                        bool& stale) {
  stale = false;
  std::unique_ptr<HttpConnection> connection = std::move(connection_);
  if (connection && !connection->Reusable()) connection.reset();
  const bool kept = connection != nullptr;
  if (!kept) {
    auto opened = Connect(deadline);
    if (!opened) return opened.error();
    connection = std::move(*opened);
  }
  bool answered = false;
  const AnswerLimit most{options_.answer_bytes, options_.cut_answer};
  auto done = Exchange(*connection, url_, request, most, {deadline, stop_.descriptor()}, answered);
  if (!done) {
    stale = kept && !answered && SystemClock().Steady() < deadline;
    return done.error();
  }
  if (done->reusable) connection_ = std::move(connection);
  return std::move(done->answer);
}

}  // namespace stepscope
