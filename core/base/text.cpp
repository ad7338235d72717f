#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>

namespace stepscope {
namespace {

// The type of fmt::vformat, which Format() calls. fmt's functions are compiled in this file
// (cmake/linked_in.cmake); taking the address keeps this one.
using Formats = std::string(fmt::string_view, fmt::format_args);
[[gnu::used]] constexpr Formats* kFormats = &fmt::vformat;

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::string_view kBase64Url =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

std::uint8_t Byte(char c) {
  return static_cast<std::uint8_t>(c);
}

std::string EncodeBase64(std::string_view bytes, std::string_view alphabet) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : bytes) {
    bits = (bits << 8) | Byte(c);
    for (held += 8; held >= 6; held -= 6) text += alphabet[(bits >> (held - 6)) & 63];
  }
  if (held > 0) text += alphabet[(bits << (6 - held)) & 63];
  return text;
}

constexpr std::uint8_t kNoValue = 255;

// The value of each character of the alphabet, kNoValue for all others.
constexpr std::array<std::uint8_t, 256> ValuesOf(std::string_view alphabet) {
  std::array<std::uint8_t, 256> values{};
  values.fill(kNoValue);
  for (std::size_t i = 0; i < alphabet.size(); ++i) {
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  }
  return values;
}
constexpr auto kBase64Values = ValuesOf(kBase64), kBase64UrlValues = ValuesOf(kBase64Url);

// Every text has one meaning only: the bits left over at the end must be zero.
Result<std::string> DecodeBase64(std::string_view text,
                                 const std::array<std::uint8_t, 256>& values) {
  std::string bytes;
  bytes.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  int held = 0;
  for (const char c : text) {
    const std::uint8_t value = values[Byte(c)];
    if (value == kNoValue) return Invalid("base64: a character outside the alphabet");
    bits = (bits << 6) | value;
    held += 6;
    if (held >= 8) bytes += static_cast<char>((bits >> (held -= 8)) & 0xff);
  }
  if (text.size() % 4 == 1 || (bits & ((1U << held) - 1)) != 0) return Invalid("base64: cut short");
  return bytes;
}

// Length of the valid UTF-8 sequence at the start of `text`; 0 when there is none.
std::size_t SequenceLength(std::string_view text) {
  const std::uint8_t first = Byte(text[0]);
  if (first < 0x80) return 1;
  const std::size_t length = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((Byte(text[i]) & 0xc0) != 0x80) return 0;
  }
  // The second byte tells overlong forms, surrogates and characters above U+10FFFF.
  const std::uint8_t second = Byte(text[1]);
  if (first == 0xe0 && second < 0xa0) return 0;
  if (first == 0xed && second >= 0xa0) return 0;
  if (first == 0xf0 && second < 0x90) return 0;
  if (first == 0xf4 && second >= 0x90) return 0;
  return length;
}

bool IsDropped(char c) {
  return (Byte(c) < 0x20 && c != '\t' && c != '\n') || c == 0x7f;
}

// Whether the UTF-8 sequence controls a terminal instead of being shown: a control character,
// U+0080 to U+009F too, or one that turns the direction of the text behind it.
bool IsControl(std::string_view sequence) {
  if (sequence.size() == 1) return Byte(sequence[0]) < 0x20 || sequence[0] == 0x7f;
  if (sequence.size() == 2) return sequence[0] == '\xc2' && Byte(sequence[1]) < 0xa0;
  return (sequence >= "\u202a" && sequence <= "\u202e") ||
         (sequence >= "\u2066" && sequence <= "\u2069");
}

}  // namespace

std::vector<std::string_view> Split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (;;) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

std::string_view Trim(std::string_view text) {
  constexpr std::string_view kBlank = " \t\r\n";
  const std::size_t from = text.find_first_not_of(kBlank);
  if (from == std::string_view::npos) return {};
  return text.substr(from, text.find_last_not_of(kBlank) - from + 1);
}

Result<std::int64_t> ParseInt(std::string_view text, std::string_view what) {
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    return Invalid(Format("{} '{}': not a whole number", what, Printable(text, 40)));
  }
  return value;
}

std::string Printable(std::string_view text, std::size_t limit) {
  std::string safe;
  std::string_view left = text.substr(0, limit);
  while (!left.empty()) {
    const std::string_view next = left.substr(0, std::max<std::size_t>(SequenceLength(left), 1));
    if (IsControl(next)) {
      for (const char c : next) safe += Format("\\x{:02x}", Byte(c));
    } else {
      safe += next;
    }
    left.remove_prefix(next.size());
  }
  if (text.size() > limit) safe += "...";
  return ValidUtf8(safe);
}

std::string ValidUtf8(std::string_view text) {
  std::string valid;
  valid.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = SequenceLength(text);
    if (length == 0) {
      valid += "\xef\xbf\xbd";
    } else if (!IsDropped(text[0])) {
      valid += text.substr(0, length);
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  return valid;
}

std::string ToHex(std::string_view bytes) {
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string hex;
  hex.reserve(bytes.size() * 2);
  for (const char c : bytes) {
    hex += kDigits[Byte(c) >> 4];
    hex += kDigits[Byte(c) & 15];
  }
  return hex;
}

Result<std::string> FromHex(std::string_view hex) {
  if (hex.size() % 2 != 0) return Invalid("hexadecimal: an odd number of digits");
  std::string bytes;
  for (std::size_t i = 0; i < hex.size(); i += 2) {
    std::uint8_t value = 0;
    const char* end = hex.data() + i + 2;
    if (std::from_chars(hex.data() + i, end, value, 16).ptr != end) {
      return Invalid("hexadecimal: a character that is no digit");
    }
    bytes += static_cast<char>(value);
  }
  return bytes;
}

std::string ToBase64(std::string_view bytes) {
  std::string text = EncodeBase64(bytes, kBase64);
  while (text.size() % 4 != 0) text += '=';
  return text;
}

Result<std::string> FromBase64(std::string_view text) {
  if (text.size() % 4 != 0) return Invalid("base64: cut short");
  for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  return DecodeBase64(text, kBase64Values);
}

std::string ToBase64Url(std::string_view bytes) {
  return EncodeBase64(bytes, kBase64Url);
}
Result<std::string> FromBase64Url(std::string_view text) {
  return DecodeBase64(text, kBase64UrlValues);
}

}  // namespace stepscope
