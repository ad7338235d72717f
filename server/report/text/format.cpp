#include "server/report/text/format.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/base/time.h"
#include "rules/engine/sentence.h"

namespace stepscope {
namespace {

std::string Three(double value) {
  const double size = std::abs(value);
  return Format("{:.{}f}", value, size < 9.995 ? 2 : size < 99.95 ? 1 : 0);
}

constexpr std::pair<std::string_view, std::string_view> kMetricWords[] = {
    {"node_cpu_percent", "CPU"},
    {"gpu_util_percent", "GPU"},
    {"memory_used_percent", "Memory"},
    {"gpu_memory_used_percent", "GPU memory"},
    {"node_iowait_percent", "I/O wait"},
    {"network_receive_bytes_per_second", "Network in"},
    {"network_send_bytes_per_second", "Network out"},
};

}  // namespace

std::string FormatPercent(double percent) {
  return Format("{:.1f} %", percent);
}

std::string FormatNumber(double value) {
  if (std::abs(value) >= 1'000 && std::abs(value) < 1e15) return Grouped(std::llround(value));
  return Format("{:.3g}", value);
}

std::string FormatDuration(double seconds) {
  if (seconds < 0) return "-" + FormatDuration(-seconds);
  if (seconds == 0) return "0 s";
  if (seconds < 0.0009995) return Format("{:.0f} us", seconds * 1e6);
  if (seconds < 0.9995) return Three(seconds * 1e3) + " ms";
  if (seconds < 59.95) return Three(seconds) + " s";
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3'600) return Format("{} min {:02} s", whole / 60, whole % 60);
  if (whole < 86'400) return Format("{} h {:02} min", whole / 3'600, whole % 3'600 / 60);
  return Format("{} d {:02} h", whole / 86'400, whole % 86'400 / 3'600);
}

std::string FormatBytes(double bytes) {
  constexpr std::string_view kUnits[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  std::size_t unit = 0;
  while (std::abs(bytes) >= 1'000 && unit + 1 < std::size(kUnits)) {
    bytes /= 1'024;
    ++unit;
  }
  return Format("{:.{}f} {}", bytes, unit == 0 || std::abs(bytes) >= 99.5 ? 0 : 1, kUnits[unit]);
}

std::string FormatTime(std::int64_t at_us) {
  std::string text = ToRfc3339(FromMicros(at_us)).substr(0, 19);
  std::ranges::replace(text, 'T', ' ');
  return text + " UTC";
}

std::string FormatValue(double value, std::string_view unit) {
  if (unit == "%") return FormatPercent(value);
  if (unit == "bytes") return FormatBytes(value);
  if (unit == "bytes/s") return FormatBytes(value) + "/s";
  if (unit == "s") return FormatDuration(value);
  return unit.empty() ? FormatNumber(value) : FormatNumber(value) + " " + std::string(unit);
}

std::string FormatMetric(std::string_view metric) {
  for (const auto& [name, words] : kMetricWords) {
    if (name == metric) return std::string(words);
  }
  return std::string(metric);
}

std::string FormatKey(std::string_view key) {
  std::string words(key);
  for (const std::string_view unit : {"_percent", "_seconds", "_us", "_bytes"}) {
    if (words.ends_with(unit) && words.size() > unit.size()) {
      words.erase(words.size() - unit.size());
      break;
    }
  }
  std::ranges::replace(words, '_', ' ');
  return words;
}

}  // namespace stepscope
