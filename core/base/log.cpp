#include "core/base/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <utility>

namespace stepscope {
namespace {

constexpr std::array<std::pair<std::string_view, LogLevel>, 4> kLevels = {
    {{"debug", LogLevel::kDebug},
     {"info", LogLevel::kInfo},
     {"warning", LogLevel::kWarning},
     {"error", LogLevel::kError}}};

spdlog::level::level_enum ToSpdlog(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::info;
}

}  // namespace

void StartLog(std::string_view program, LogLevel level) {
  spdlog::set_default_logger(spdlog::stderr_color_mt(std::string(program)));
  spdlog::set_pattern("%Y-%m-%dT%H:%M:%S.%e %n %^%l%$ %v");
  spdlog::set_level(ToSpdlog(level));
}

Result<LogLevel> ParseLogLevel(std::string_view text) {
  for (const auto& [name, level] : kLevels) {
    if (name == text) return level;
  }
  return Invalid(
      Format("log level '{}': must be debug, info, warning or error", Printable(text, 40)));
}

bool Logs(LogLevel level) {
  return spdlog::should_log(ToSpdlog(level));
}

void LogLine(LogLevel level, std::string_view line) {
  spdlog::log(ToSpdlog(level), "{}", line);
}

}  // namespace stepscope
