#pragma once

// Log lines on standard error; the one place of this layer that includes spdlog. Text from outside
// goes through Printable() first.

#include <string>
#include <string_view>

#include "core/base/text.h"

namespace stepscope {

enum class LogLevel { kDebug, kInfo, kWarning, kError };

// Set once by main, before any thread starts. `program` stands in front of each line.
void StartLog(std::string_view program, LogLevel level);
Result<LogLevel> ParseLogLevel(std::string_view text);

// Whether lines of the level are written; ask before building a costly one.
bool Logs(LogLevel level);

void LogLine(LogLevel level, std::string_view line);

template <typename... Args>
void LogInfo(fmt::format_string<Args...> pattern, Args&&... args) {
  if (Logs(LogLevel::kInfo)) LogLine(LogLevel::kInfo, Format(pattern, std::forward<Args>(args)...));
}
template <typename... Args>
void LogWarning(fmt::format_string<Args...> pattern, Args&&... args) {
  if (Logs(LogLevel::kWarning))
    LogLine(LogLevel::kWarning, Format(pattern, std::forward<Args>(args)...));
}
template <typename... Args>
void LogError(fmt::format_string<Args...> pattern, Args&&... args) {
  if (Logs(LogLevel::kError))
    LogLine(LogLevel::kError, Format(pattern, std::forward<Args>(args)...));
}
template <typename... Args>
void LogDebug(fmt::format_string<Args...> pattern, Args&&... args) {
  if (Logs(LogLevel::kDebug))
    LogLine(LogLevel::kDebug, Format(pattern, std::forward<Args>(args)...));
}

}  // namespace stepscope
