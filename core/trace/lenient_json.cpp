#include "core/trace/lenient_json.h"

#include <cstdint>
#include <cstring>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kMostDepth = 64;

const char* FindQuote(const char* at, const char* end) {
  return static_cast<const char*>(std::memchr(at, '"', static_cast<std::size_t>(end - at)));
}

const char* AfterSpace(const char* at, const char* end) {
  while (at != end && IsJsonSpace(*at)) ++at;
  return at;
}

// Whether a quote may be the end of a text: after it comes the end of something, a colon, or a
// comma. kMore when the bytes end before that is clear.
Scan EndsText(const char* after, const char* end) {
  after = AfterSpace(after, end);
  if (after == end) return Scan::kMore;
  const bool ends = *after == ',' || *after == '}' || *after == ']' || *after == ':';
  return ends ? Scan::kOk : Scan::kBroken;
}

// The stricter question, for texts with unescaped quotes in them: behind the comma there must be a
// whole key with its colon, or a value of an array that is no bare word.
Scan EndsMember(const char* after, const char* end) {
  after = AfterSpace(after, end);
  if (after == end) return Scan::kMore;
  if (*after == ':' || *after == '}' || *after == ']') return Scan::kOk;
  if (*after != ',') return Scan::kBroken;
  after = AfterSpace(after + 1, end);
  if (after == end) return Scan::kMore;
  if (*after != '"') return Scan::kBroken;
  const char* const quote = FindQuote(after + 1, end);
  if (!quote) return Scan::kMore;
  after = AfterSpace(quote + 1, end);
  if (after == end) return Scan::kMore;
  return *after == ':' ? Scan::kOk : Scan::kBroken;
}

bool IsEscaped(const char* begin, const char* quote) {
  const char* at = quote;
  while (at != begin && at[-1] == '\\') --at;
  return (quote - at) % 2 == 1;
}

Scan SkipNested(JsonCursor& cursor, int depth);

Scan SkipMembers(JsonCursor& cursor, char close, int depth) {
  for (;;) {
    SkipSpace(cursor);
    if (cursor.empty()) return Scan::kMore;
    if (*cursor.at == close) return ++cursor.at, Scan::kOk;
    if (*cursor.at == ',' || *cursor.at == ':') {
      ++cursor.at;
      continue;
    }
    if (*cursor.at == '}' || *cursor.at == ']') return Scan::kBroken;
    if (const Scan scan = SkipNested(cursor, depth); scan != Scan::kOk) return scan;
  }
}

Scan SkipNested(JsonCursor& cursor, int depth) {
  SkipSpace(cursor);
  if (cursor.empty()) return Scan::kMore;
  const char first = *cursor.at;
  std::string_view raw;
  bool quoted = false;
  if (first != '{' && first != '[') return ReadScalar(cursor, raw, quoted);
  if (depth == kMostDepth) return Scan::kBroken;
  ++cursor.at;
  return SkipMembers(cursor, first == '{' ? '}' : ']', depth + 1);
}

void AppendUtf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
  } else if (code < 0x800) {
    text += static_cast<char>(0xc0 | (code >> 6));
    text += static_cast<char>(0x80 | (code & 0x3f));
  } else {
    text += static_cast<char>(0xe0 | (code >> 12));
    text += static_cast<char>(0x80 | ((code >> 6) & 0x3f));
    text += static_cast<char>(0x80 | (code & 0x3f));
  }
}

// The code of \uXXXX; surrogates and what is no number become '?'.
std::uint32_t HexCode(std::string_view digits) {
  std::uint32_t code = 0;
  for (const char c : digits) {
    const int digit = c >= '0' && c <= '9'   ? c - '0'
                      : c >= 'a' && c <= 'f' ? c - 'a' + 10
                      : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                             : -1;
    if (digit < 0) return '?';
    code = code * 16 + static_cast<std::uint32_t>(digit);
  }
  const bool surrogate = code >= 0xd800 && code <= 0xdfff;
  return surrogate || code == 0 ? '?' : code;
}

// Adds the escape at `raw[at]`, which is a backslash; returns how many bytes it takes.
std::size_t AddEscape(std::string_view raw, std::size_t at, std::string& text) {
  constexpr std::string_view kEscapes = "\"\\/bfnrt", kMeanings = "\"\\/\b\f\n\r\t";
  if (at + 1 == raw.size()) return text += '\\', 1;
  const char kind = raw[at + 1];
  if (kind == 'u' && at + 6 <= raw.size()) {
    AppendUtf8(text, HexCode(raw.substr(at + 2, 4)));
    return 6;
  }
  const std::size_t known = kEscapes.find(kind);
  if (known == std::string_view::npos) return text += '\\', 1;
  text += kMeanings[known];
  return 2;
}

}  // namespace

Scan Expect(JsonCursor& cursor, char wanted) {
  SkipSpace(cursor);
  if (cursor.empty()) return Scan::kMore;
  if (*cursor.at != wanted) return Scan::kBroken;
  ++cursor.at;
  return Scan::kOk;
}

Scan ReadText(JsonCursor& cursor, std::string_view& raw) {
  if (const Scan scan = Expect(cursor, '"'); scan != Scan::kOk) return scan;
  const char* const begin = cursor.at;
  for (const char* at = begin;;) {
    const char* const quote = FindQuote(at, cursor.end);
    if (!quote) return Scan::kMore;
    const bool escaped = quote != begin && quote[-1] == '\\' && IsEscaped(begin, quote);
    if (!escaped || cursor.strict_ends) {
      const Scan ends =
          cursor.strict_ends ? EndsMember(quote + 1, cursor.end) : EndsText(quote + 1, cursor.end);
      if (ends == Scan::kMore) return ends;
      if (ends == Scan::kOk) {
        raw = {begin, static_cast<std::size_t>(quote - begin)};
        cursor.at = quote + 1;
        return Scan::kOk;
      }
    }
    at = quote + 1;
  }
}

Scan ReadToken(JsonCursor& cursor, std::string_view& raw) {
  SkipSpace(cursor);
  const char* const begin = cursor.at;
  const char* at = begin;
  while (at != cursor.end && *at != ',' && *at != '}' && *at != ']' && *at != '"' && *at != '{' &&
         *at != '[' && !IsJsonSpace(*at)) {
    ++at;
  }
  if (at == cursor.end) return Scan::kMore;
  if (at == begin) return Scan::kBroken;
  raw = {begin, static_cast<std::size_t>(at - begin)};
  cursor.at = at;
  return Scan::kOk;
}

Scan ReadScalar(JsonCursor& cursor, std::string_view& raw, bool& quoted) {
  SkipSpace(cursor);
  if (cursor.empty()) return Scan::kMore;
  quoted = *cursor.at == '"';
  return quoted ? ReadText(cursor, raw) : ReadToken(cursor, raw);
}

Scan SkipValue(JsonCursor& cursor, std::string_view& raw) {
  SkipSpace(cursor);
  const char* const begin = cursor.at;
  const Scan scan = SkipNested(cursor, 0);
  if (scan == Scan::kOk) raw = {begin, static_cast<std::size_t>(cursor.at - begin)};
  return scan;
}

std::string Unescape(std::string_view raw, std::size_t most) {
  if (raw.find('\\') == std::string_view::npos) return ValidUtf8(raw.substr(0, most));
  std::string text;
  for (std::size_t at = 0; at < raw.size() && text.size() < most;) {
    if (raw[at] == '\\') {
      at += AddEscape(raw, at, text);
    } else {
      text += raw[at++];
    }
  }
  if (text.size() > most) text.resize(most);
  return ValidUtf8(text);
}

}  // namespace stepscope
