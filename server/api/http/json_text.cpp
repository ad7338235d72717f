#include "server/api/http/json_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <type_traits>

#include "core/model/table.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kUnit = 10'000;  // four decimals
// Greater doubles have no such decimals, and their integers would not fit.
constexpr double kLargestFixed = 9e14;
// Smaller values, such as learning rates, need more digits than four decimals: they get six digits,
// down to kLeast, the smallest sample.
constexpr double kLeastFixed = 0.1, kLeast = 1e-9;
constexpr int kDigits = 6;

constexpr std::uint64_t kEightDigits = 100'000'000;
// "0000" to "9999".
constexpr auto kFours = [] {
  std::array<char, 40'000> fours{};
  for (std::size_t number = 0; number < 10'000; ++number) {
    for (std::size_t i = 4, rest = number; i-- > 0; rest /= 10) {
      fours[4 * number + i] = static_cast<char>('0' + rest % 10);
    }
  }
  return fours;
}();

// A number that is known at compile time.
template <std::uint8_t kNumber>
using Known = std::integral_constant<std::uint8_t, kNumber>;

bool NeedsComma(const std::string& out) {
  return !out.empty() && out.back() != '[' && out.back() != '{';
}

void Separate(std::string& out) {
  if (NeedsComma(out)) out += ',';
}

char* PutFour(char* to, std::uint64_t number) {
  std::memcpy(to, &kFours[4 * number], 4);
  return to + 4;
}

// Writes the digits of a number below 10^4.
[[gnu::always_inline]] inline char* PutUpToFour(char* to, std::uint64_t number) {
  const std::size_t zeros = std::size_t{number < 1'000} + (number < 100) + (number < 10);
  std::memcpy(to, &kFours[4 * number + zeros],
              4);  // more than it has; later digits overwrite the rest
  return to + 4 - zeros;
}

// Writes the digits of a number below 10^8.
char* PutShort(char* to, std::uint64_t number) {
  if (number < kUnit) return PutUpToFour(to, number);
  return PutFour(PutUpToFour(to, number / kUnit), number % kUnit);
}

char* PutEight(char* to, std::uint64_t number) {
  return PutFour(PutFour(to, number / kUnit), number % kUnit);
}

// std::to_chars takes twice the time for a time in microseconds.
char* PutNumber(char* to, std::uint64_t number) {
  if (number < kEightDigits) return PutShort(to, number);
  return PutEight(PutNumber(to, number / kEightDigits), number % kEightDigits);
}

// The decimals, without zeros at the end; none at all when they are all zeros.
[[gnu::always_inline]] inline char* PutDecimals(char* to, std::uint64_t rest, std::uint8_t scale) {
  if (rest == 0) return to;
  *to = '.';
  if (scale == 2) {
    std::memcpy(to + 1, &kFours[4 * rest + 2], 2);
    return to + (to[2] == '0' ? 2 : 3);
  }
  if (scale == 4) {
    PutFour(to + 1, rest);
    std::uint32_t digits = 0;
    std::memcpy(&digits, to + 1, sizeof(digits));
    // The last digit is in the highest byte: counts the '0' from there on.
    return to + 5 - std::countl_zero(digits ^ 0x30303030U) / 8;
  }
  char* const end = to + 1 + scale;
  for (char* digit = end; digit != to + 1; rest /= 10)
    *--digit = static_cast<char>('0' + rest % 10);
  char* last = end;
  while (last[-1] == '0') --last;
  return last;
}

// `unit` is 10^scale; where it is known at compile time, nothing is divided by a variable.
[[gnu::always_inline]] inline char* PutScaled(char* to, std::int64_t value, std::uint64_t unit,
                                              std::uint8_t scale) {
  const auto bits = static_cast<std::uint64_t>(value);
  const std::uint64_t magnitude = value < 0 ? ~bits + 1 : bits;
  if (value < 0) *to++ = '-';
  const std::uint64_t whole = magnitude / unit;
  to = whole < kUnit ? PutUpToFour(to, whole) : PutNumber(to, whole);
  return PutDecimals(to, magnitude % unit, scale);
}

}  // namespace

NumberList::NumberList(std::string& list)
    : list_(list), comma_(NeedsComma(list)), end_(text_.data()) {}

void NumberList::Flush() {
  list_.append(text_.data(), end_);
  end_ = text_.data();
}

void NumberList::Begin() {
  if (end_ > text_.data() + text_.size() - kLongest) Flush();
  if (comma_) *end_++ = ',';
  comma_ = true;
}

// Adjacent times mostly begin with the same digits.
void NumberList::Int(std::int64_t value) {
  Begin();
  const auto number = static_cast<std::uint64_t>(value);
  if (value < static_cast<std::int64_t>(kEightDigits)) {
    end_ = PutScaled(end_, value, 1, 0);
    return;
  }
  const std::uint64_t high = number / kEightDigits;
  if (high != high_) {
    high_ = high;
    high_size_ = static_cast<std::size_t>(PutNumber(high_text_.data(), high) - high_text_.data());
  }
  std::ranges::copy(high_text_, end_);  // a fixed size, which is quicker
  end_ = PutEight(end_ + high_size_, number % kEightDigits);
}

void NumberList::Pair(std::int64_t one, std::int64_t other) {
  Begin();
  *end_++ = '[';
  end_ = PutScaled(end_, one, 1, 0);
  *end_++ = ',';
  end_ = PutScaled(end_, other, 1, 0);
  *end_++ = ']';
}

// With a scale known at compile time, nothing is divided by a variable.
void NumberList::Scaled(std::span<const std::int64_t> values, std::uint8_t scale) {
  const auto append = [&](auto unit, auto decimals) {
    Append(values,
           [=](char* to, std::int64_t value) { return PutScaled(to, value, unit, decimals); });
  };
  switch (scale) {
    case 0:
      return append(Known<1>(), Known<0>());
    case 1:
      return append(Known<10>(), Known<1>());
    case 2:
      return append(Known<100>(), Known<2>());
    default:
      return append(static_cast<std::uint64_t>(PowerOfTen(scale)), scale);
  }
}

// Writes as many at a time as there is room for.
template <typename Put>
void NumberList::Append(std::span<const std::int64_t> values, Put put) {
  while (!values.empty()) {
    Begin();
    const auto room = static_cast<std::size_t>(text_.data() + text_.size() - end_) / kLongest;
    const std::size_t count = std::clamp<std::size_t>(room, 1, values.size());
    char* to = put(end_, values.front());  // a local copy, which stays in a register
    for (const std::int64_t value : values.subspan(1, count - 1)) {
      *to++ = ',';
      to = put(to, value);
    }
    end_ = to;
    values = values.subspan(count);
  }
}

void NumberList::Real(double value) {
  if (std::isnan(value) || std::isinf(value)) return Null();
  Begin();
  const double size = std::abs(value);
  if (size < kLeastFixed && size >= kLeast) {
    char* const last = text_.data() + text_.size();
    end_ = std::to_chars(end_, last, value, std::chars_format::general, kDigits).ptr;
  } else if (size < kLargestFixed) {
    const double units = value * double(kUnit);  // std::llround takes as long as the rest
    end_ = PutScaled(end_, static_cast<std::int64_t>(units + (units < 0 ? -0.5 : 0.5)), kUnit, 4);
  } else {
    end_ = std::to_chars(end_, text_.data() + text_.size(), value).ptr;
  }
}

void NumberList::Null() {
  Begin();
  constexpr std::string_view kNull = "null";
  end_ = std::copy(kNull.begin(), kNull.end(), end_);
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
