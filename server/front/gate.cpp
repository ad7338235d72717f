#include "server/front/gate.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "core/base/text.h"
#include "server/front/host.h"

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

bool TakesBody(std::string_view method) {
  return method == "POST" || method == "PATCH";
}

bool IsSafe(std::string_view method) {
  return method == "GET" || method == "HEAD";
}

// A content type without its parameters.
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
  if (!TakesBody(head.method) && head.has_body) {
    return Refuse("bad-request", Format("a {} request has no body", Printable(head.method, 16)));
  }
  return std::nullopt;
}

std::optional<Problem> CheckHost(const Request& head, const HostNames& hosts) {
  const std::string host = Lower(head.Header("host"));
  if (host.empty()) return Refuse("bad-request", "the Host header is missing");
  const std::string_view name = HostName(host);
  if (IsHostAddress(name) || std::ranges::count(hosts, name) > 0) return std::nullopt;
  return Refuse("misdirected",
                Format("this service does not answer to the host name {}", Printable(name, 100)));
}

std::optional<Problem> CheckOrigin(const Request& head, bool ambient, const Route& route) {
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
  const bool bytes = route.body_type == kBytesType && TypeOf(head) == kBytesType;
  if (ambient && TakesBody(head.method) && TypeOf(head) != kJsonType && !bytes) {
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
  if (!TakesBody(head.method) || TypeOf(head) == route.body_type) return std::nullopt;
  return Refuse("unsupported-media-type", Format("the body must be {}", route.body_type));
}

}  // namespace stepscope
