#include "server/api/json_text.h"

#include <charconv>
#include <cmath>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kDecimals = 4;
constexpr std::int64_t kUnit = 10'000;
// Beyond it a double has no such decimals, and its integer would not fit.
constexpr double kLargestFixed = 9e14;

void Separate(std::string& values) {
  if (!values.empty()) values += ',';
}

void Write(std::string& out, std::int64_t value) {
  char digits[24];
  out.append(digits, std::to_chars(digits, std::end(digits), value).ptr);
}

}  // namespace

void AppendInt(std::string& values, std::int64_t value) {
  Separate(values);
  Write(values, value);
}

void AppendReal(std::string& values, double value) {
  Separate(values);
  if (!(std::abs(value) < kLargestFixed)) {
    values += std::isfinite(value) ? Format("{}", value) : "null";
    return;
  }
  const std::int64_t scaled = std::llround(value * double(kUnit));
  if (scaled < 0) values += '-';
  Write(values, std::abs(scaled) / kUnit);
  std::int64_t rest = std::abs(scaled) % kUnit;
  if (rest == 0) return;
  char decimals[kDecimals + 1] = {'.'};
  for (int at = kDecimals; at > 0; --at, rest /= 10) {
    decimals[at] = static_cast<char>('0' + rest % 10);
  }
  int length = kDecimals + 1;
  while (decimals[length - 1] == '0') --length;
  values.append(decimals, static_cast<std::size_t>(length));
}

void AppendNull(std::string& values) {
  Separate(values);
  values += "null";
}

std::string WithMembers(std::string object,
                        std::initializer_list<std::pair<std::string_view, std::string_view>> more) {
  object.pop_back();
  for (const auto& [name, value] : more) {
    if (object.size() > 1) object += ',';
    object.append("\"").append(name).append("\":").append(value);
  }
  return object + "}";
}

}  // namespace stepscope
