#pragma once

// Units become words here, for the pages of reports; web/src/format.ts does the same for the UI.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace stepscope {

inline constexpr std::string_view kNothing = "–";

std::string FormatPercent(double percent);  // "41.3 %"
std::string FormatNumber(double value);     // three significant digits, thousands grouped
// "812 us" to "2 d 03 h".
std::string FormatDuration(double seconds);
std::string FormatBytes(double bytes);
std::string FormatTime(std::int64_t at_us);  // "2026-11-20 20:13:34 UTC"
// A value by the unit of its metric: "%", "bytes/s", ...
std::string FormatValue(double value, std::string_view unit);
// The short name of a metric in a table: "GPU", "memory", ...; the full name when it has none.
std::string FormatMetric(std::string_view metric);
// "data_wait_percent" -> "data wait".
std::string FormatKey(std::string_view key);

}  // namespace stepscope
