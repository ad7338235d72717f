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

void Separate(std::string& out) {
  if (!out.empty() && out.back() != '[' && out.back() != '{') out += ',';
}

template <typename Integer>
void Write(std::string& out, Integer value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

}  // namespace

void AppendInt(std::string& list, std::int64_t value) {
  Separate(list);
  Write(list, value);
}

void AppendScaled(std::string& list, std::int64_t value, std::uint8_t scale) {
  Separate(list);
  const auto bits = static_cast<std::uint64_t>(value);
  const auto unit = static_cast<std::uint64_t>(PowerOfTen(scale));
  const std::uint64_t magnitude = value < 0 ? ~bits + 1 : bits;
  if (value < 0) list += '-';
  Write(list, magnitude / unit);
  std::uint64_t rest = magnitude % unit;
  if (rest == 0) return;
  std::size_t end = list.size() + static_cast<std::size_t>(scale) + 1;
  list.resize(end, '0');
  for (std::size_t at = end; rest > 0; rest /= 10) list[--at] = static_cast<char>('0' + rest % 10);
  list[end - static_cast<std::size_t>(scale) - 1] = '.';
  while (list[end - 1] == '0') --end;
  list.resize(end);
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
