#pragma once

// Formatting and small text functions; the one place that includes fmt.

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

template <typename... Args>
std::string Format(fmt::format_string<Args...> pattern, Args&&... args) {
  return fmt::format(pattern, std::forward<Args>(args)...);
}

// Splits at each separator; "" gives one empty part.
std::vector<std::string_view> Split(std::string_view text, char separator);

// Removes blanks, tabs and line ends at both ends.
std::string_view Trim(std::string_view text);

// Parses a whole decimal number; nothing may stand before or after it. The error names `what` and
// the text.
Result<std::int64_t> ParseInt(std::string_view text, std::string_view what);

// Makes text from outside safe for a log line or a terminal: control characters, and those that
// turn the direction of text, become \xNN. Keeps at most `limit` bytes.
std::string Printable(std::string_view text, std::size_t limit = 200);

// Replaces invalid UTF-8 sequences by U+FFFD and drops NUL and other control characters but tab and
// line end, so that JSON and PostgreSQL both accept the text.
std::string ValidUtf8(std::string_view text);

// Lower-case hexadecimal, two digits for each byte.
std::string ToHex(std::string_view bytes);
Result<std::string> FromHex(std::string_view hex);

// Base64 with padding (standard alphabet), and base64url without padding.
std::string ToBase64(std::string_view bytes);
Result<std::string> FromBase64(std::string_view text);
std::string ToBase64Url(std::string_view bytes);
Result<std::string> FromBase64Url(std::string_view text);

}  // namespace stepscope
