#include "server/edge/http/head.h"

#include <algorithm>
#include <array>

#include "core/base/text.h"
#include "server/edge/http/normalize_head.h"

namespace stepscope {
namespace {

using Bytes = std::array<bool, 256>;

constexpr bool Has(const Bytes& bytes, char byte) {
  return bytes[static_cast<unsigned char>(byte)];
}

constexpr Bytes TokenBytes() {
  Bytes bytes{};
  for (const char byte : std::string_view("!#$%&'*+-.^_`|~")) {
    bytes[static_cast<unsigned char>(byte)] = true;
  }
  for (int byte = '0'; byte <= '9'; ++byte) bytes[byte] = true;
  for (int byte = 'A'; byte <= 'Z'; ++byte) bytes[byte] = bytes[byte + 0x20] = true;
  return bytes;
}

// Visible ASCII; a '#' never reaches a server.
constexpr Bytes TargetBytes() {
  Bytes bytes{};
  for (int byte = 0x21; byte < 0x7f; ++byte) bytes[byte] = byte != '#';
  return bytes;
}

constexpr Bytes ValueBytes() {
  Bytes bytes{};
  bytes['\t'] = true;
  for (int byte = 0x20; byte < 0x100; ++byte) bytes[byte] = byte != 0x7f;
  return bytes;
}

constexpr Bytes kToken = TokenBytes(), kTarget = TargetBytes(), kValue = ValueBytes(), kNothing{};

char LowerByte(char byte) {
  return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte + 0x20) : byte;
}

// Whether its escapes are complete, and none of them is NUL.
bool HasGoodEscapes(std::string_view target) {
  for (std::size_t at = target.find('%'); at != target.npos; at = target.find('%', at + 1)) {
    const Result<std::string> byte = FromHex(target.substr(at + 1, 2));
    if (!byte || byte->size() != 1 || byte->front() == '\0') return false;
  }
  return true;
}

bool IsVersion(std::string_view version) {
  const auto digit = [](char byte) { return byte >= '0' && byte <= '9'; };
  return version.size() == 8 && version.starts_with("HTTP/") && digit(version[5]) &&
         version[6] == '.' && digit(version[7]);
}

}  // namespace

struct HeadReader::Shape {
  std::string_view what;
  const Bytes& bytes;  // the bytes that it may hold
  char end;            // the byte behind it
};

const HeadReader::Shape& HeadReader::ShapeOf(Part part) {
  static constexpr Shape kShapes[] = {
      {"the method", kToken, ' '},           {"the empty line", kNothing, '\n'},
      {"the request target", kTarget, ' '},  {"the HTTP version", kTarget, '\r'},
      {"a header name", kToken, ':'},        {"a header value", kValue, '\r'},
      {"the end of a line", kNothing, '\n'}, {"the end of the head", kNothing, '\n'},
  };
  return kShapes[static_cast<std::size_t>(part)];
}

Progress HeadReader::Feed(std::string_view bytes, std::size_t& consumed) {
  consumed = 0;
  while (progress_ == Progress::kMore && consumed < bytes.size()) {
    const std::size_t room = limits_.most_bytes - head_.bytes;
    if (room == 0) {
      Refuse("head-too-large", Format("the head has more than {} bytes", limits_.most_bytes));
      break;
    }
    const std::size_t taken = Step(bytes.substr(consumed, room));
    consumed += taken;
    head_.bytes += taken;
  }
  return progress_;
}

// Takes the bytes of the present part, and the byte behind it. Returns how many.
std::size_t HeadReader::Step(std::string_view bytes) {
  const std::string_view taken = bytes.substr(0, Most() - text_.size() + 1);
  const Bytes& allowed = ShapeOf(part_).bytes;
  const char* const stop =
      std::ranges::find_if(taken, [&](char byte) { return !Has(allowed, byte); });
  const std::size_t run = static_cast<std::size_t>(stop - taken.data());
  text_.append(taken, 0, run);
  if (text_.size() > Most()) {
    if (part_ == Part::kTarget) {
      Refuse("target-too-long", Format("the request target has more than {} bytes", Most()));
    } else {
      Refuse("bad-request", Format("{} is too long", ShapeOf(part_).what));
    }
    return run;
  }
  if (run == taken.size()) return run;
  End(taken[run]);
  return run + 1;
}

std::size_t HeadReader::Most() const {
  constexpr std::size_t kMostMethod = 32, kVersionBytes = 8;
  if (part_ == Part::kMethod) return kMostMethod;
  if (part_ == Part::kTarget) return limits_.most_target;
  return part_ == Part::kVersion ? kVersionBytes : limits_.most_bytes;
}

void HeadReader::End(char byte) {
  const bool empty_line = byte == '\r' && text_.empty();
  if (empty_line && part_ == Part::kName) {
    part_ = Part::kHeadEnd;
  } else if (empty_line && part_ == Part::kMethod && !blank_) {
    blank_ = true;
    part_ = Part::kBlankEnd;
  } else if (byte != ShapeOf(part_).end) {
    Refuse("bad-request", WhyNot(byte));
  } else {
    EndPart();
    text_.clear();
  }
}

std::string HeadReader::WhyNot(char byte) const {
  constexpr char kFirstOfTls = 0x16;
  if (byte == '\n') return "a line ends with LF alone, not with CR LF";
  if (ShapeOf(part_).end == '\n') return "a CR stands without its LF";
  if (part_ == Part::kName && (byte == ' ' || byte == '\t')) {
    return text_.empty() ? "a header is folded" : "a blank stands before the colon of a header";
  }
  if (byte == kFirstOfTls && part_ == Part::kMethod && text_.empty())
    return "TLS on a port that speaks HTTP without it";
  return Format("the byte 0x{:02x} in {}", static_cast<unsigned char>(byte), ShapeOf(part_).what);
}

void HeadReader::EndPart() {
  switch (part_) {
    case Part::kMethod:
      return EndMethod();
    case Part::kBlankEnd:
      part_ = Part::kMethod;
      return;
    case Part::kTarget:
      return EndTarget();
    case Part::kVersion:
      return EndVersion();
    case Part::kName:
      return EndName();
    case Part::kValue:
      return EndValue();
    case Part::kLineEnd:
      part_ = Part::kName;
      return;
    case Part::kHeadEnd:
      return EndHead();
  }
}

void HeadReader::EndMethod() {
  if (text_.empty()) return Refuse("bad-request", "the request line begins with a blank");
  head_.method = text_;
  part_ = Part::kTarget;
}

void HeadReader::EndTarget() {
  const bool whole_server = text_ == "*" && head_.method == "OPTIONS";
  if (text_ == "*" && head_.method == "PRI") {
    return Refuse("version-not-supported", "HTTP/2 on a port that speaks HTTP/1.1 and HTTP/1.0");
  }
  if (!text_.starts_with('/') && !whole_server) {
    return Refuse("bad-request", "the request target does not begin with /");
  }
  if (!HasGoodEscapes(text_)) {
    return Refuse("bad-request", "the request target is not valid percent-encoding");
  }
  const std::size_t mark = std::min(text_.find('?'), text_.size());
  head_.path = text_.substr(0, mark);
  head_.query = text_.substr(std::min(mark + 1, text_.size()));
  part_ = Part::kVersion;
}

void HeadReader::EndVersion() {
  if (!IsVersion(text_)) return Refuse("bad-request", "this is not an HTTP request line");
  if (text_ != "HTTP/1.1" && text_ != "HTTP/1.0") {
    return Refuse("version-not-supported", "this service speaks HTTP/1.1 and HTTP/1.0");
  }
  head_.minor_version = text_.back() - '0';
  part_ = Part::kLineEnd;
}

void HeadReader::EndName() {
  if (text_.empty()) return Refuse("bad-request", "a header has no name");
  if (names_ == limits_.most_headers) {
    return Refuse("head-too-large", Format("the head has more than {} headers", names_));
  }
  ++names_;
  std::ranges::transform(text_, text_.begin(), LowerByte);
  name_ = text_;
  part_ = Part::kValue;
}

void HeadReader::EndValue() {
  const std::string_view value = Trim(text_);
  const auto [header, added] = head_.headers.try_emplace(name_, value);
  if (!added && StandsOnce(name_)) {
    return Refuse("bad-request", Format("the header {} stands twice", name_));
  }
  std::string& joined = header->second;
  if (!added && !value.empty()) joined.append(joined.empty() ? "" : ", ").append(value);
  part_ = Part::kLineEnd;
}

void HeadReader::EndHead() {
  if (std::optional<Refusal> refusal = NormalizeHead(head_)) {
    return Refuse(refusal->code, std::move(refusal->detail));
  }
  progress_ = Progress::kDone;
}

void HeadReader::Refuse(std::string_view code, std::string detail) {
  refusal_ = {code, std::move(detail)};
  progress_ = Progress::kFault;
}

}  // namespace stepscope
