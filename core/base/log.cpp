// The log, and BufferedLog of buffered_log.h: the only source that includes spdlog.

#include "core/base/log.h"

#include <spdlog/sinks/ringbuffer_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <array>
#include <utility>
#include <vector>

#include "core/base/buffered_log.h"

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

constexpr std::size_t kMostHeld = 100;

}  // namespace

struct BufferedLog::Sinks {
  std::vector<spdlog::sink_ptr> before;
  std::shared_ptr<spdlog::sinks::ringbuffer_sink_mt> held =
      std::make_shared<spdlog::sinks::ringbuffer_sink_mt>(kMostHeld);
};

BufferedLog::BufferedLog() : sinks_(std::make_unique<Sinks>()) {
  sinks_->before =
      std::exchange(spdlog::default_logger()->sinks(), std::vector<spdlog::sink_ptr>{sinks_->held});
}

BufferedLog::~BufferedLog() {
  spdlog::default_logger()->sinks() = sinks_->before;
  for (const spdlog::details::log_msg_buffer& line : sinks_->held->last_raw()) {
    for (const spdlog::sink_ptr& sink : sinks_->before) sink->log(line);
  }
}

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
