#include "agent/uplink.h"

#include <algorithm>
#include <fstream>

#include "core/base/text.h"
#include "core/wire/frame.h"

namespace stepscope {

Result<std::string> ReadToken(const std::string& path) {
  std::ifstream file(path);
  std::string text(1025, '\0');
  if (!file) return Invalid(Format("token file '{}' cannot be read", Printable(path)));
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  const std::string token(Trim(text));
  const bool visible = std::ranges::all_of(token, [](char c) { return c > 0x20 && c < 0x7f; });
  if (token.empty() || token.size() > 512 || !visible) {
    return Invalid(Format("token file '{}' must hold one token and nothing else", Printable(path)));
  }
  return token;
}

Result<std::unique_ptr<Uplink>> Uplink::Make(const std::string& server, const std::string& ca_file,
                                             const std::string& token_file) {
  auto url = ParseUrl(server);
  if (!url) return Invalid("--server: " + url.error().message);
  if (url->target.find('?') != url->target.npos) {
    return Invalid(Format("--server: URL '{}' must not have a query", Printable(server)));
  }
  std::string base = url->target;
  while (base.ends_with('/')) base.pop_back();
  if (!token_file.empty()) {
    if (auto token = ReadToken(token_file); !token) return token.error();
  }
  auto client = HttpClient::Make(*url, {.tls = {.ca_file = ca_file}});
  if (!client) return client.error();
  return std::unique_ptr<Uplink>(new Uplink(std::move(*client), std::move(base), token_file));
}

Result<HttpAnswer> Uplink::Post(std::string body) {
  HttpRequest request{.target = base_ + "/api/v1/ingest/frames",
                      .headers = {{"Content-Type", std::string(kFramesContentType)}},
                      .body = std::move(body)};
  if (!token_file_.empty()) {
    auto token = ReadToken(token_file_);
    if (!token) return Unavailable(token.error().message);
    request.headers.emplace_back("Authorization", "Bearer " + *token);
  }
  return client_->Send(request);
}

std::string Uplink::PageOf(const std::string& job) const {
  const Url& url = client_->url();
  return Format("{}://{}{}/jobs/{}", url.secure ? "https" : "http", url.Authority(), base_, job);
}

}  // namespace stepscope
