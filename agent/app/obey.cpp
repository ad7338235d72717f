#include "agent/app/obey.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLeastMs = 100, kMostMs = 60'000;

}  // namespace

Result<Allowed> ParseAllowed(std::string_view text) {
  if (text == kIntervalCommand) return Allowed{};
  if (text == "none") return Allowed{.interval = false};
  return Invalid(Format("'{}' is neither interval nor none", Printable(text, 40)));
}

std::string Obey(const ServiceCommand& command, const Allowed& allowed,
                 Guarded<Duration>& interval) {
  if (command.kind != kIntervalCommand) {
    return Format("this agent does not know '{}'", Printable(command.kind, 40));
  }
  if (!allowed.interval) return "the agent was started with --allow none";
  if (command.interval_ms < kLeastMs || command.interval_ms > kMostMs) {
    return Format("{} ms is not between {} and {}", command.interval_ms, kLeastMs, kMostMs);
  }
  const Duration wanted = std::chrono::milliseconds(command.interval_ms);
  interval.Change([&](Duration& value) { value = wanted; });
  return "";
}

}  // namespace stepscope
