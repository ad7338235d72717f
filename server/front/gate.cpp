#include "server/front/gate.h"

#include <arpa/inet.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>

#include "core/base/text.h"

namespace stepscope {
namespace {

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsLength(std::string_view text) {
  return !text.empty() && text.size() <= 15 &&
         std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

bool IsSafe(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

// The name in "name:port", "[::1]:port".
std::string_view HostName(std::string_view host) {
  if (host.starts_with('[')) return host.substr(0, std::min(host.find(']') + 1, host.size()));
  return host.substr(0, host.find(':'));
}

// Addresses pass: a page can point a name of its own at this service, but no address.
bool IsAddress(std::string_view name) {
  if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
  const std::string text(name);
  std::array<unsigned char, sizeof(in6_addr)> address{};
  return inet_pton(AF_INET, text.c_str(), address.data()) == 1 ||
         inet_pton(AF_INET6, text.c_str(), address.data()) == 1;
}

// Without its parameters.
std::string TypeOf(const Request& head) {
  const std::string_view type = head.Header("content-type");
  return Lower(Trim(type.substr(0, type.find(';'))));
}

std::optional<Problem> Refuse(std::string code, std::string detail) {
  return Problem{std::move(code), std::move(detail), {}, {}};
}

}  // namespace

std::size_t BodyBytes(const Request& head) {
  const std::string_view length = head.Header("content-length");
  std::size_t bytes = 0;
  if (IsLength(length)) std::from_chars(length.data(), length.data() + length.size(), bytes);
  return bytes;
}

std::optional<Problem> CheckFraming(const Request& head, std::size_t target_bytes) {
  if (target_bytes > kMostTarget) {
    return Refuse("target-too-long", Format("the request target has {} bytes, at most {} are taken",
                                            target_bytes, kMostTarget));
  }
  if (!head.path.starts_with('/')) return Refuse("bad-request", "the path does not begin with /");
  if (head.method != "POST" && head.has_body) {
    return Refuse("bad-request", Format("a {} request has no body", Printable(head.method, 16)));
  }
  return std::nullopt;
}

std::optional<Problem> CheckHost(const Request& head, const HostNames& hosts) {
  const std::string host = Lower(head.Header("host"));
  if (host.empty()) return Refuse("bad-request", "the Host header is missing");
  const std::string_view name = HostName(host);
  if (IsAddress(name) || std::ranges::count(hosts, name) > 0) return std::nullopt;
  return Refuse("misdirected",
                Format("this service does not answer to the host name {}", Printable(name, 100)));
}

std::optional<Problem> CheckOrigin(const Request& head, bool ambient) {
  if (IsSafe(head.method)) return std::nullopt;
  const std::string_view site = head.Header("sec-fetch-site");
  const std::string_view origin = head.Header("origin");
  const std::size_t scheme = origin.find("://");
  const bool ours = scheme != std::string_view::npos &&
                    Lower(origin.substr(scheme + 3)) == Lower(head.Header("host"));
  const bool foreign =
      (!origin.empty() && !ours) || (!site.empty() && site != "same-origin" && site != "none");
  if (foreign || (ambient && !ours && site != "same-origin")) {
    return Refuse("foreign-origin", "pages of another origin may not change anything here");
  }
  if (ambient && head.method == "POST" && TypeOf(head) != kJsonType) {
    return Refuse("unsupported-media-type", Format("the body must be {}", kJsonType));
  }
  return std::nullopt;
}

std::optional<Problem> CheckBody(const Request& head, const Route& route) {
  const std::size_t bytes = BodyBytes(head);
  if (bytes > route.most_body) {
    return Refuse("too-large",
                  Format("the body has {} bytes, at most {} are taken", bytes, route.most_body));
  }
  if (!head.has_body && head.Header("content-type").empty()) return std::nullopt;
  if (head.method != "POST" || TypeOf(head) == route.body_type) return std::nullopt;
  return Refuse("unsupported-media-type", Format("the body must be {}", route.body_type));
}

}  // namespace stepscope
