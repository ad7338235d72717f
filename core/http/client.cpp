#include "core/http/client.h"

#include <openssl/ssl.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/http/connection.h"
#include "core/http/exchange.h"

namespace stepscope {
namespace {

bool SameName(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

bool HasControl(std::string_view text) {
  return std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; });
}

Status CheckRequest(const HttpRequest& request) {
  if (request.method != "GET" && request.method != "POST") {
    return Invalid(Format("HTTP method '{}': only GET and POST", Printable(request.method)));
  }
  if (!request.target.empty() && (request.target[0] != '/' || HasControl(request.target) ||
                                  request.target.find(' ') != std::string::npos)) {
    return Invalid(Format("HTTP target '{}' is not a path", Printable(request.target)));
  }
  for (const auto& [name, value] : request.headers) {
    if (name.empty() || HasControl(name) || name.find(':') != std::string::npos ||
        HasControl(value)) {
      return Invalid(Format("HTTP header '{}' has a control character", Printable(name)));
    }
  }
  return {};
}

}  // namespace

struct HttpClient::Tls {
  SSL_CTX* context = SSL_CTX_new(TLS_client_method());
  Tls() = default;
  Tls(const Tls&) = delete;
  Tls& operator=(const Tls&) = delete;
  ~Tls() { SSL_CTX_free(context); }

  Status Trust(const std::string& ca_file) {
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    if (ca_file.empty()) return SSL_CTX_set_default_verify_paths(context), Status();
    if (SSL_CTX_load_verify_locations(context, ca_file.c_str(), nullptr) == 1) return {};
    return Invalid(
        Format("CA file '{}' cannot be read or holds no certificate", Printable(ca_file)));
  }
};

std::string_view HttpAnswer::Header(std::string_view name) const {
  for (const auto& [given, value] : headers) {
    if (SameName(given, name)) return value;
  }
  return {};
}

Result<std::unique_ptr<HttpClient>> HttpClient::Make(Url url, HttpClientOptions options) {
  if (!options.address.empty() && !IsNumericHost(options.address)) {
    return Invalid(Format("pinned address '{}' is no IP address", Printable(options.address)));
  }
  std::unique_ptr<HttpClient> client(new HttpClient(std::move(url), std::move(options)));
  if (client->stop_event_ < 0) return Internal("HTTP client: no event descriptor");
  if (!client->url_.secure) return client;
  client->tls_ = std::make_unique<Tls>();
  if (client->tls_->context == nullptr) return Internal("TLS: out of memory");
  if (Status trusted = client->tls_->Trust(client->options_.ca_file); !trusted) {
    return trusted.error();
  }
  return client;
}

HttpClient::HttpClient(Url url, HttpClientOptions options)
    : url_(std::move(url)),
      options_(std::move(options)),
      stop_event_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

HttpClient::~HttpClient() {
  if (stop_event_ >= 0) close(stop_event_);
}

void HttpClient::Stop() {
  // Never read again, so it stays readable for every later wait.
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(stop_event_, &one, sizeof one);
}

Result<HttpAnswer> HttpClient::Send(const HttpRequest& request) {
  if (Status good = CheckRequest(request); !good) return good.error();
  const SteadyTime deadline = SystemClock().Steady() + options_.request_limit;
  bool stale = false;
  auto answer = SendOnce(request, deadline, stale);
  // A kept connection may be closed by the other side at the instant at which we use it.
  if (!answer && stale) answer = SendOnce(request, deadline, stale);
  return answer;
}

Result<HttpAnswer> HttpClient::SendOnce(const HttpRequest& request, SteadyTime deadline,
                                        bool& stale) {
  stale = false;
  std::unique_ptr<HttpConnection> connection = std::move(connection_);
  if (connection && !connection->Reusable()) connection.reset();
  const bool kept = connection != nullptr;
  if (!kept) {
    const SteadyTime connected_by =
        std::min(deadline, SystemClock().Steady() + options_.connect_limit);
    auto opened = HttpConnection::Open(url_, options_.address, tls_ ? tls_->context : nullptr,
                                       {connected_by, stop_event_});
    if (!opened) return opened.error();
    connection = std::move(*opened);
  }
  bool answered = false;
  auto done = Exchange(*connection, url_, request, options_.answer_bytes, {deadline, stop_event_},
                       answered);
  if (!done) {
    stale = kept && !answered && SystemClock().Steady() < deadline;
    return done.error();
  }
  if (done->reusable) connection_ = std::move(connection);
  return std::move(done->answer);
}

}  // namespace stepscope
