#include "agent/send/uplink.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/wire/frame.h"
#include "core/wire/push_answer.h"

namespace stepscope {
namespace {

Status CheckUrl(const Url& url, const UplinkOptions& options, const Token& token) {
  const std::string shown = Printable(options.server);
  if (url.target.find('?') != url.target.npos) {
    return Invalid(Format("--server: URL '{}' must not have a query", shown));
  }
  if (!url.secure && !options.cert_file.empty()) {
    return Invalid(Format("--cert: URL '{}' is not https://", shown));
  }
  const bool clear = !url.secure && !token.text().empty() && !IsLoopbackHost(url.host);
  if (!clear || options.insecure_http) return {};
  return Invalid(
      Format("--server: the token would travel in the clear to '{}'; use https://, or "
             "--insecure-http on a network that you trust",
             shown));
}

std::string WayOut(const UplinkOptions& options) {
  if (options.ca_file.empty()) return "give its CA with --ca-file FILE";
  return Format("it is not signed by the CA in '{}'", Printable(options.ca_file));
}

bool IsRefused(const Result<HttpAnswer>& answer) {
  return answer && (answer->status == 401 || answer->status == 403);
}

}  // namespace

Result<std::unique_ptr<Uplink>> Uplink::Make(const UplinkOptions& options) {
  auto url = ParseUrl(options.server);
  if (!url) return Invalid("--server: " + url.error().message);
  if (options.cert_file.empty() != options.key_file.empty()) {
    return Invalid("--cert and --key: give both or none");
  }
  auto token = Token::Make(options.token_file, options.token);
  if (!token) return token.error();
  if (Status good = CheckUrl(*url, options, *token); !good) return good.error();
  std::string base = url->target;
  while (base.ends_with('/')) base.pop_back();
  auto client =
      HttpClient::Make(*url, {.connect_limit = std::min<Duration>(5s, options.request_limit),
                              .request_limit = options.request_limit,
                              .answer_bytes = options.answer_bytes,
                              .tls = {.ca_file = options.ca_file,
                                      .cert_file = options.cert_file,
                                      .key_file = options.key_file,
                                      .way_out = WayOut(options)}});
  if (!client) return client.error();
  return std::unique_ptr<Uplink>(
      new Uplink(std::move(*client), std::move(base), std::move(*token)));
}

std::unique_ptr<Uplink> Uplink::To(std::unique_ptr<RecordingWriter> recording) {
  return std::unique_ptr<Uplink>(new Uplink(std::move(recording)));
}

void Uplink::Stop() {
  if (client_) client_->Stop();
}

// Answers like a service that accepts all frames, but without a time, since there was no round
// trip.
Result<HttpAnswer> Uplink::Record(const std::string& body) {
  const auto frames = SplitPush(body);
  if (!frames || frames->empty()) return Internal("a push that cannot be read");
  const auto last = DecodeFrame(frames->back());
  if (!last) return last.error();
  if (Status written = recording_->Append(body); !written) return written.error();
  const std::uint64_t number = LastNumber(*last);
  return HttpAnswer{200, {}, EncodePushAnswer({number, number + 1, {}, Time{}})};
}

Result<HttpAnswer> Uplink::SendOnce(HttpRequest& request, const std::string& type) {
  request.headers.clear();
  if (!type.empty()) request.headers.emplace_back("Content-Type", type);
  if (!token_.text().empty()) {
    request.headers.emplace_back("Authorization", "Bearer " + token_.text());
  }
  return client_->Send(request);
}

Result<HttpAnswer> Uplink::Send(HttpRequest request, const std::string& type) {
  auto answer = SendOnce(request, type);
  if (IsRefused(answer) && token_.Refresh()) answer = SendOnce(request, type);
  return answer;
}

Result<HttpAnswer> Uplink::Post(std::string body) {
  if (recording_) return Record(body);
  return PostTo("/api/v1/ingest/frames", std::string(kFramesContentType), std::move(body));
}

Result<HttpAnswer> Uplink::PostTo(const std::string& path, std::string type, std::string body) {
  return Send({.target = base_ + path, .body = std::move(body)}, type);
}

Result<HttpAnswer> Uplink::PostBody(const std::string& path, std::string type, ReadBodyAt read,
                                    std::uint64_t bytes) {
  return Send({.target = base_ + path, .read_body = std::move(read), .body_bytes = bytes}, type);
}

Result<HttpAnswer> Uplink::AskWhoAmI() {
  return Send({.method = "GET", .target = base_ + "/api/v1/session"});
}

Result<HttpAnswer> Uplink::AskStatus(const std::string& job) {
  return Send({.method = "GET", .target = base_ + "/api/v1/jobs/" + job + "/status"});
}

Result<HttpAnswer> Uplink::AskJob(const std::string& job) {
  return Send({.method = "GET", .target = base_ + "/api/v1/jobs/" + job});
}

Result<HttpAnswer> Uplink::AskCard(const std::string& job) {
  return Send({.method = "GET", .target = base_ + "/api/v1/jobs/" + job + "/card"});
}

std::string Uplink::PageOf(const std::string& job) const {
  if (recording_) return "recorded in " + Printable(recording_->path());
  const Url& url = client_->url();
  return Format("{}://{}{}/jobs/{}", url.secure ? "https" : "http", url.Authority(), base_, job);
}

}  // namespace stepscope
