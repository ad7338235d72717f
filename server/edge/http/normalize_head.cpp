#include "server/edge/http/normalize_head.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::array<std::string_view, 10> kOnce = {
    "authorization", "content-encoding", "content-length", "content-type",     "cookie", "expect",
    "host",          "origin",           "sec-fetch-site", "transfer-encoding"};

// Headers for one hop, and for ranges, which are not served.
constexpr std::array<std::string_view, 9> kOneHop = {"connection", "http2-settings", "if-range",
                                                     "keep-alive", "proxy",          "range",
                                                     "te",         "trailer",        "upgrade"};

// Headers that are decided here and of no use behind the edge.
constexpr std::array<std::string_view, 3> kDecided = {"content-encoding", "expect",
                                                      "transfer-encoding"};

// Names that libraries and CGI fill in themselves: from outside they could only deceive.
constexpr std::array<std::string_view, 2> kShadows = {"remote-", "local-"};

bool StandsIn(const auto& names, std::string_view name) {
  return std::ranges::count(names, name) > 0;
}

std::string_view Value(const Head& head, const std::string& name) {
  const auto found = head.headers.find(name);
  return found == head.headers.end() ? std::string_view() : found->second;
}

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 0x20) : byte;
  });
  return lower;
}

Refusal Bad(std::string detail) {
  return {"bad-request", std::move(detail)};
}

// A name or address, with or without port. The front says whether it is one of ours.
std::optional<Refusal> DecideHost(Head& head) {
  constexpr std::string_view kMarks = "-._:[]%";
  const auto named = [&](char byte) {
    const char lower = byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 0x20) : byte;
    return (lower >= 'a' && lower <= 'z') || (byte >= '0' && byte <= '9') ||
           kMarks.find(byte) != kMarks.npos;
  };
  if (!head.headers.contains("host")) return Bad("the Host header is missing");
  const std::string_view host = Value(head, "host");
  if (host.empty() || !std::ranges::all_of(host, named)) return Bad("the Host header is no host");
  return std::nullopt;
}

std::optional<Refusal> DecideChunked(Head& head) {
  if (head.minor_version == 0) return Bad("Transfer-Encoding does not exist in HTTP/1.0");
  if (head.headers.contains("content-length")) {
    return Bad("the head has both Content-Length and Transfer-Encoding");
  }
  if (Lower(Value(head, "transfer-encoding")) != "chunked") {
    return Refusal{"not-implemented", "the only Transfer-Encoding that is taken is chunked"};
  }
  head.framing = Framing::kChunked;
  return std::nullopt;
}

std::optional<Refusal> DecideFraming(Head& head) {
  constexpr std::size_t kMostDigits = 15;
  if (head.headers.contains("transfer-encoding")) return DecideChunked(head);
  if (!head.headers.contains("content-length")) return std::nullopt;
  const std::string_view length = Value(head, "content-length");
  const char* const end = length.data() + length.size();
  const auto read = std::from_chars(length.data(), end, head.content_length);
  if (length.size() > kMostDigits || read.ec != std::errc() || read.ptr != end) {
    return Bad("Content-Length is not one number");
  }
  head.framing = Framing::kLength;
  return std::nullopt;
}

std::optional<Refusal> DecideCoding(Head& head) {
  const std::string coding = Lower(Value(head, "content-encoding"));
  if (coding == "gzip") head.coding = Coding::kGzip;
  if (coding.empty() || coding == "identity" || coding == "gzip") return std::nullopt;
  return Refusal{"unsupported-media-type", "the only Content-Encoding that is taken is gzip"};
}

std::optional<Refusal> DecideExpect(Head& head) {
  if (!head.headers.contains("expect")) return std::nullopt;
  if (Lower(Value(head, "expect")) != "100-continue") {
    return Refusal{"expectation-failed", "the only Expect that is met is 100-continue"};
  }
  head.expects_continue = head.minor_version == 1 && head.framing != Framing::kNone;
  return std::nullopt;
}

bool IsOneHop(std::string_view name) {
  return StandsIn(kOneHop, name) || name.starts_with("proxy-");
}

// A header that is meant for all must not be named in Connection: a client would make a header of
// the proxy in front of us vanish that way.
std::optional<Refusal> DecideConnection(Head& head) {
  bool close = false, keep = false;
  const std::string options = Lower(Value(head, "connection"));
  for (const std::string_view part : Split(options, ',')) {
    const std::string_view option = Trim(part);
    close = close || option == "close";
    keep = keep || option == "keep-alive";
    if (!IsOneHop(option) && head.headers.contains(std::string(option))) {
      return Bad("Connection names a header that is not of one hop");
    }
  }
  head.keep_alive = !close && (keep || head.minor_version == 1);
  return std::nullopt;
}

bool IsDropped(std::string_view name) {
  return IsOneHop(name) || StandsIn(kDecided, name) || name.find('_') != name.npos ||
         std::ranges::any_of(kShadows, [&](auto shadow) { return name.starts_with(shadow); });
}

}  // namespace

bool StandsOnce(std::string_view name) {
  return StandsIn(kOnce, name);
}

std::optional<Refusal> NormalizeHead(Head& head) {
  for (const auto decide :
       {DecideHost, DecideFraming, DecideCoding, DecideExpect, DecideConnection}) {
    if (std::optional<Refusal> refusal = decide(head)) return refusal;
  }
  std::erase_if(head.headers, [](const auto& header) { return IsDropped(header.first); });
  return std::nullopt;
}

}  // namespace stepscope
