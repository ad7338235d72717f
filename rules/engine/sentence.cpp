#include "rules/engine/sentence.h"

#include <chrono>

#include "core/base/text.h"

namespace stepscope {

std::string Grouped(std::int64_t number) {
  std::string text = std::to_string(number);
  const std::size_t first_digit = number < 0 ? 1 : 0;
  for (std::size_t at = text.size(); at > first_digit + 3;) {
    at -= 3;
    text.insert(at, ",");
  }
  return text;
}

std::string SamplesText(std::int64_t samples, Duration interval, std::size_t nodes) {
  const double seconds = std::chrono::duration<double>(interval * samples).count();
  const std::string of = nodes > 1 ? Format(" of {} nodes together", nodes) : "";
  return Format("{} ({:.6g} s{})", CountText(samples, "sample"), seconds, of);
}

std::string LengthText(Duration length) {
  const double seconds = std::chrono::duration<double>(length).count();
  if (seconds < 120) return Format("{:.0f} s", seconds);
  if (seconds < 7200) return Format("{:.0f} min", seconds / 60);
  return Format("{:.1f} h", seconds / 3600);
}

std::string StepText(Duration length) {
  const double seconds = std::chrono::duration<double>(length).count();
  if (seconds < 1e-3) return Format("{:.0f} us", seconds * 1e6);
  if (seconds < 1) return Format("{:.3g} ms", seconds * 1e3);
  return seconds < 120 ? Format("{:.3g} s", seconds) : LengthText(length);
}

std::string OrdinalText(std::int64_t number) {
  constexpr const char* kEndings[] = {"th", "st", "nd", "rd"};
  const std::int64_t last = number % 100 / 10 == 1 ? 0 : number % 10;
  return Grouped(number) + kEndings[last <= 3 ? last : 0];
}

std::string CountText(std::int64_t count, const std::string& what) {
  return Format("{} {}{}", Grouped(count), what, count == 1 ? "" : "s");
}

}  // namespace stepscope
