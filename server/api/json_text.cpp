#include "server/api/json_text.h"

#include <charconv>
#include <cmath>

#include "core/base/text.h"
#include "core/model/table.h"

namespace stepscope {
namespace {

constexpr int kDecimals = 4;
constexpr double kUnit = 1e4;
// Beyond it a double has no such decimals, and its integer would not fit.
constexpr double kLargestFixed = 9e14;

bool NeedsComma(const std::string& out) {
  return !out.empty() && out.back() != '[' && out.back() != '{';
}

void Separate(std::string& out) {
  if (NeedsComma(out)) out += ',';
}

// Where a value's text goes on, behind its comma.
char* Begin(const std::string& out, char* text) {
  if (NeedsComma(out)) *text++ = ',';
  return text;
}

}  // namespace

void AppendInt(std::string& list, std::int64_t value) {
  char text[24];
  list.append(text, std::to_chars(Begin(list, text), std::end(text), value).ptr);
}

void AppendScaled(std::string& list, std::int64_t value, std::uint8_t scale) {
  char text[48];
  char* end = Begin(list, text);
  const auto bits = static_cast<std::uint64_t>(value);
  const auto unit = static_cast<std::uint64_t>(PowerOfTen(scale));
  const std::uint64_t magnitude = value < 0 ? ~bits + 1 : bits;
  if (value < 0) *end++ = '-';
  end = std::to_chars(end, std::end(text), magnitude / unit).ptr;
  if (std::uint64_t rest = magnitude % unit; rest != 0) {
    *end++ = '.';
    char* const first = end;
    end += scale;
    for (char* digit = end; digit != first; rest /= 10)
      *--digit = static_cast<char>('0' + rest % 10);
    while (end[-1] == '0') --end;
  }
  list.append(text, end);
}

void AppendReal(std::string& list, double value) {
  if (std::abs(value) < kLargestFixed) {
    AppendScaled(list, std::llround(value * kUnit), kDecimals);
    return;
  }
  Separate(list);
  list += std::isfinite(value) ? Format("{}", value) : "null";
}

void AppendNull(std::string& list) {
  Separate(list);
  list += "null";
}

void OpenObject(std::string& list, std::string_view object) {
  Separate(list);
  list.append(object.substr(0, object.size() - 1));
}

void OpenList(std::string& object, std::string_view name) {
  Separate(object);
  object.append("\"").append(name).append("\":[");
}

}  // namespace stepscope
