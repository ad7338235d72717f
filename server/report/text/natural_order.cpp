#include "server/report/text/natural_order.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr std::string_view kDigits = "0123456789";

// Takes the digits that a text begins with, and returns them without leading zeros.
std::string_view TakeNumber(std::string_view& text) {
  std::string_view number = text.substr(0, text.find_first_not_of(kDigits));
  text.remove_prefix(number.size());
  number.remove_prefix(std::min(number.find_first_not_of('0'), number.size()));
  return number;
}

bool BeginsWithDigit(std::string_view text) {
  return !text.empty() && kDigits.find(text[0]) != kDigits.npos;
}

}  // namespace

bool IsBefore(std::string_view name, std::string_view other) {
  std::string_view a = name, b = other;
  while (!a.empty() && !b.empty()) {
    if (BeginsWithDigit(a) && BeginsWithDigit(b)) {
      const std::string_view first = TakeNumber(a), second = TakeNumber(b);
      if (first.size() != second.size()) return first.size() < second.size();
      if (first != second) return first < second;
      continue;
    }
    if (a[0] != b[0]) return a[0] < b[0];
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
  if (a.empty() != b.empty()) return a.empty();
  return name < other;
}

}  // namespace stepscope
