#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace stepscope {

// Reads JSON as profilers write it, which is not always JSON: unescaped quotes and backslashes in
// names, NaN, Infinity and N/A where a number belongs, control characters, invalid UTF-8.
//
// A cursor over bytes that are in memory; text views point into them, and are valid as long as they
// are. Each function skips white space first. After kMore the bytes ended within the value: the
// caller reads more and begins the value anew. Nothing allocates but Unescape.

enum class Scan { kOk, kMore, kBroken };

struct JsonCursor {
  const char* at = nullptr;
  const char* end = nullptr;
  bool strict_ends = false;  // a quote ends a text only where a whole member or an end follows

  bool empty() const { return at == end; }
};

inline bool IsJsonSpace(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}
inline void SkipSpace(JsonCursor& cursor) {
  while (cursor.at != cursor.end && IsJsonSpace(*cursor.at)) ++cursor.at;
}

// Takes this character if it is next; kBroken when another one is.
Scan Expect(JsonCursor& cursor, char wanted);

// The bytes between the quotes, as they are in the file.
Scan ReadText(JsonCursor& cursor, std::string_view& raw);

// The bytes of a number or of what stands in its place: 12.5, -1, NaN, null, N/A.
Scan ReadToken(JsonCursor& cursor, std::string_view& raw);

// A text or a token; `quoted` says which.
Scan ReadScalar(JsonCursor& cursor, std::string_view& raw, bool& quoted);

// Any value; `raw` is all of it. Refuses more than 64 levels.
Scan SkipValue(JsonCursor& cursor, std::string_view& raw);

// The text that raw bytes stand for, at most `most` bytes of it: escapes are replaced, an escape
// that is none is kept as it is, and what is not UTF-8 becomes '?'.
std::string Unescape(std::string_view raw, std::size_t most);

}  // namespace stepscope
