#include "core/http/url.h"

#include <arpa/inet.h>

#include <algorithm>
#include <cctype>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongest = 2048;
constexpr std::size_t kLongestHost = 253;

bool IsIPv4(const std::string& host) {
  in_addr address;
  return inet_pton(AF_INET, host.c_str(), &address) == 1;
}

bool IsIPv6(const std::string& host) {
  in6_addr address;
  return inet_pton(AF_INET6, host.c_str(), &address) == 1;
}

bool IsHostByte(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '.' || c == '-' || c == '_';
}

// Other programs read "127.1" and "0x7f000001" as addresses; we would read them as names.
bool LooksNumeric(std::string_view host) {
  const std::string_view label = host.substr(host.find_last_of('.') + 1);
  return label.starts_with("0x") ||
         std::ranges::all_of(label, [](char c) { return c >= '0' && c <= '9'; });
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return lower;
}

const char* HostProblem(const std::string& host, bool bracketed) {
  if (bracketed) return IsIPv6(host) ? nullptr : "has no IPv6 address in its brackets";
  if (host.empty()) return "has no host";
  if (host.size() > kLongestHost) return "has a host of more than 253 characters";
  if (host.starts_with('.') || host.ends_with('.') || host.find("..") != host.npos) {
    return "has a host with an empty label";
  }
  if (!std::ranges::all_of(host, IsHostByte)) return "has a character in its host that is none";
  if (LooksNumeric(host) && !IsIPv4(host)) return "has a numeric host that is no IPv4 address";
  return nullptr;
}

const char* TextProblem(std::string_view text) {
  if (text.size() > kLongest) return "is longer than 2048 characters";
  const bool odd = std::ranges::any_of(
      text, [](char c) { return c <= 0x20 || c >= 0x7f || c == '\\' || c == '"'; });
  if (odd) return "has a blank, control or non-ASCII character";
  if (text.find('#') != text.npos) return "must not have a fragment ('#')";
  return nullptr;
}

// Parses "host", "host:port", "[v6]" or "[v6]:port" into host and port.
const char* ReadAuthority(std::string_view authority, Url& url) {
  if (authority.find('@') != authority.npos) return "must not have a user name or password";
  const bool bracketed = authority.starts_with('[');
  std::size_t end = bracketed ? authority.find(']') : authority.find(':');
  if (bracketed && end == authority.npos) return "has no ']' behind its IPv6 address";
  if (end == authority.npos) end = authority.size();
  url.host = Lower(authority.substr(bracketed, end - bracketed));
  std::string_view rest = authority.substr(end + bracketed);
  if (const char* problem = HostProblem(url.host, bracketed)) return problem;
  if (rest.empty()) return nullptr;
  const std::string_view digits = rest.substr(1);
  const auto port = ParseInt(digits, "port");
  const bool plain = rest[0] == ':' && !digits.empty() && digits.size() <= 5 && digits[0] >= '0' &&
                     digits[0] <= '9';
  if (!plain || !port || *port < 1 || *port > 65535) return "has a port that is not 1 to 65535";
  url.port = static_cast<std::uint16_t>(*port);
  return nullptr;
}

const char* ReadUrl(std::string_view text, Url& url) {
  if (const char* problem = TextProblem(text)) return problem;
  const std::size_t colon = text.find("://");
  const std::string scheme = Lower(text.substr(0, colon == text.npos ? 0 : colon));
  if (scheme != "http" && scheme != "https") return "must start with http:// or https://";
  url.secure = scheme == "https";
  url.port = url.secure ? 443 : 80;
  const std::string_view rest = text.substr(colon + 3);
  const std::size_t slash = std::min(rest.find_first_of("/?"), rest.size());
  if (slash < rest.size()) url.target = rest.substr(slash);
  if (url.target.starts_with('?')) url.target.insert(0, "/");
  return ReadAuthority(rest.substr(0, slash), url);
}

}  // namespace

std::string Url::Authority() const {
  const bool v6 = host.find(':') != host.npos;
  const std::string name = v6 ? "[" + host + "]" : host;
  return port == (secure ? 443 : 80) ? name : Format("{}:{}", name, port);
}

std::string Url::ToText() const {
  return Format("{}://{}{}", secure ? "https" : "http", Authority(), target);
}

Result<Url> ParseUrl(std::string_view text) {
  Url url;
  if (const char* problem = ReadUrl(text, url)) {
    return Invalid(Format("URL '{}' {}", Printable(text, 120), problem));
  }
  return url;
}

bool IsLoopbackHost(const std::string& host) {
  return host == "localhost" || host == "::1" || (IsIPv4(host) && host.starts_with("127."));
}

bool IsNumericHost(const std::string& host) {
  return IsIPv4(host) || IsIPv6(host);
}

}  // namespace stepscope
