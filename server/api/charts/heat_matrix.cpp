#include "server/api/charts/heat_matrix.h"

#include <algorithm>
#include <string_view>

namespace stepscope {
namespace {

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Takes the number that a text begins with, without leading zeros, off the text.
std::string_view TakeNumber(std::string_view& text) {
  std::size_t end = 0, begin = 0;
  while (end < text.size() && IsDigit(text[end])) ++end;
  while (begin < end && text[begin] == '0') ++begin;
  const std::string_view number = text.substr(begin, end - begin);
  text.remove_prefix(end);
  return number;
}

// Less than, greater than or equal 0; a run of digits compares as a number.
int Compare(std::string_view a, std::string_view b) {
  while (!a.empty() && !b.empty()) {
    if (IsDigit(a[0]) && IsDigit(b[0])) {
      const std::string_view one = TakeNumber(a), other = TakeNumber(b);
      if (one.size() != other.size()) return one.size() < other.size() ? -1 : 1;
      if (const int order = one.compare(other); order != 0) return order;
      continue;
    }
    if (a[0] != b[0]) return a[0] < b[0] ? -1 : 1;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  return a.empty() ? (b.empty() ? 0 : -1) : 1;
}

// "07" and "7" compare as equal numbers and are two names.
int Order(const std::string& a, const std::string& b) {
  const int order = Compare(a, b);
  return order != 0 ? order : a.compare(b);
}

}  // namespace

void SortRows(std::vector<HeatRow>& rows) {
  std::ranges::sort(rows, [](const HeatRow& a, const HeatRow& b) {
    const int order = Order(a.node, b.node);
    return order != 0 ? order < 0 : Order(a.device, b.device) < 0;
  });
}

HeatMatrix ToMatrix(const std::vector<HeatRow>& rows) {
  HeatMatrix matrix;
  bool some = false;
  for (const HeatRow& row : rows) {
    for (const std::optional<double>& value : row.values) {
      if (!value) continue;
      matrix.low = some ? std::min(matrix.low, *value) : *value;
      matrix.high = some ? std::max(matrix.high, *value) : *value;
      some = true;
    }
  }
  matrix.bytes.reserve(rows.empty() ? 0 : rows.size() * rows.front().values.size());
  const double step = (matrix.high - matrix.low) / (HeatMatrix::kNothing - 1);
  for (const HeatRow& row : rows) {
    for (const std::optional<double>& value : row.values) {
      const double level = value && step > 0 ? (*value - matrix.low) / step + 0.5 : 0;
      const auto byte = value ? static_cast<unsigned char>(level) : HeatMatrix::kNothing;
      matrix.bytes.push_back(static_cast<char>(byte));
    }
  }
  return matrix;
}

}  // namespace stepscope
