#include "core/base/time.h"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdlib>

#include "core/base/text.h"

namespace stepscope {
namespace {

using std::chrono::microseconds;

struct Unit {
  std::string_view name;
  Duration length;
};
constexpr std::array<Unit, 7> kUnits = {
    {{"ns", 1ns}, {"us", 1us}, {"ms", 1ms}, {"s", 1s}, {"m", 1min}, {"min", 1min}, {"h", 1h}}};

bool IsDigit(char c) {
  return c >= '0' && c <= '9';
}

// Takes `count` digits from the front of `text`; -1 when they are not all digits.
int TakeDigits(std::string_view& text, std::size_t count) {
  if (text.size() < count) return -1;
  int value = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (!IsDigit(text[i])) return -1;
    value = value * 10 + (text[i] - '0');
  }
  text.remove_prefix(count);
  return value;
}

bool TakeChar(std::string_view& text, char wanted) {
  if (text.empty() || text[0] != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// The fraction of a second behind the point, in nanoseconds; -1 for a point without digits.
std::int64_t TakeFraction(std::string_view& text) {
  if (!TakeChar(text, '.')) return 0;
  std::int64_t nanos = 0;
  int digits = 0;
  for (; !text.empty() && IsDigit(text[0]) && digits < 9; ++digits, text.remove_prefix(1)) {
    nanos = nanos * 10 + (text[0] - '0');
  }
  if (digits == 0) return -1;
  for (; digits < 9; ++digits) nanos *= 10;
  return nanos;
}

// "Z" or "+02:00" at the end of a time.
Result<Duration> TakeOffset(std::string_view text) {
  if (text == "Z" || text == "z") return Duration{};
  const bool east = text.starts_with('+');
  if (!east && !text.starts_with('-')) return Invalid("no time zone");
  text.remove_prefix(1);
  const int hours = TakeDigits(text, 2);
  const bool colon = TakeChar(text, ':');
  const int minutes = TakeDigits(text, 2);
  if (hours < 0 || hours > 23 || !colon || minutes < 0 || minutes > 59 || !text.empty()) {
    return Invalid("bad time zone");
  }
  const Duration offset = std::chrono::hours(hours) + std::chrono::minutes(minutes);
  return east ? offset : -offset;
}

struct Fields {
  int year, month, day, hour, minute, second;
  bool Valid() const {
    using namespace std::chrono;
    return year >= 1970 && year <= 2200 && hour >= 0 && hour <= 23 && minute >= 0 && minute <= 59 &&
           second >= 0 && second <= 59 &&
           year_month_day(std::chrono::year(year), std::chrono::month(static_cast<unsigned>(month)),
                          std::chrono::day(static_cast<unsigned>(day)))
               .ok();
  }
  Time ToTime() const {
    using namespace std::chrono;
    const sys_days days(year_month_day(std::chrono::year(year),
                                       std::chrono::month(static_cast<unsigned>(month)),
                                       std::chrono::day(static_cast<unsigned>(day))));
    return Time(days) + hours(hour) + minutes(minute) + seconds(second);
  }
};

// Takes "2026-11-20T20:13:34"; a field that cannot be read is -1.
Fields TakeFields(std::string_view& text) {
  Fields fields{};
  const auto take = [&](std::size_t digits, char before) {
    return before == 0 || TakeChar(text, before) ? TakeDigits(text, digits) : -1;
  };
  fields.year = take(4, 0);
  fields.month = take(2, '-');
  fields.day = take(2, '-');
  fields.hour = take(2, text.starts_with('t') ? 't' : 'T');
  fields.minute = take(2, ':');
  fields.second = take(2, ':');
  return fields;
}

}  // namespace

std::string ToRfc3339(Time time) {
  using namespace std::chrono;
  const auto days = floor<std::chrono::days>(time);
  const year_month_day date(days);
  const hh_mm_ss clock(floor<microseconds>(time - days));
  return Format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:06}Z", static_cast<int>(date.year()),
                static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                clock.hours().count(), clock.minutes().count(), clock.seconds().count(),
                clock.subseconds().count());
}

Result<Time> ParseRfc3339(std::string_view text) {
  const Error wrong =
      Invalid(Format("'{}' is not a time like 2026-11-20T20:13:34Z", Printable(text, 40)));
  std::string_view left = text;
  const Fields fields = TakeFields(left);
  const std::int64_t nanos = TakeFraction(left);
  const Result<Duration> offset = TakeOffset(left);
  if (!fields.Valid() || nanos < 0 || !offset.ok()) return wrong;
  return fields.ToTime() + std::chrono::nanoseconds(nanos) - *offset;
}

Result<Duration> ParseDuration(std::string_view text) {
  const std::string number(text.substr(0, text.find_first_not_of("0123456789.")));
  const std::string_view unit = text.substr(number.size());
  char* end = nullptr;
  const double count = std::strtod(number.c_str(), &end);
  const bool whole = !number.empty() && *end == '\0' && IsDigit(number[0]);
  for (const Unit& known : kUnits) {
    if (known.name != unit || !whole) continue;
    const double nanos = count * static_cast<double>(known.length.count());
    if (nanos > 9e18) return Invalid(Format("'{}' is too long a time", Printable(text, 40)));
    return Duration(std::llround(nanos));
  }
  return Invalid(
      Format("'{}' is not a time with its unit, such as 500ms, 2s or 10m", Printable(text, 40)));
}

std::string ToText(Duration duration) {
  constexpr std::array<Unit, 6> kShown = {
      {{"h", 1h}, {"min", 1min}, {"s", 1s}, {"ms", 1ms}, {"us", 1us}, {"ns", 1ns}}};
  for (const Unit& unit : kShown) {
    if (duration % unit.length == Duration{} && duration != Duration{}) {
      return Format("{} {}", duration / unit.length, unit.name);
    }
  }
  return "0 s";
}

}  // namespace stepscope
