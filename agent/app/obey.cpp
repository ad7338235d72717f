#include "agent/app/obey.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLeastMs = 100, kMostMs = 60'000;
constexpr std::int64_t kMostSteps = 1000;  // of a window

std::string NotAllowed(std::string_view kind) {
  return Format("the agent was started without --allow {}", kind);
}

std::string AskForWindow(const ServiceCommand& command, const AskRanks& ask) {
  if (command.start_step < 0 || command.num_steps < 1 || command.num_steps > kMostSteps) {
    return Format("{} steps from step {} are no window of 1 to {} steps", command.num_steps,
                  command.start_step, kMostSteps);
  }
  const std::string steps =
      Format("window {} steps from step {}", command.num_steps, command.start_step);
  const bool told = ask && ask(std::string(kWindowCommand), steps) > 0;
  return told ? "" : "no training process is connected";
}

}  // namespace

Result<Allowed> ParseAllowed(std::string_view text) {
  if (text == "none") return Allowed{.interval = false};
  Allowed allowed{.interval = false};
  for (const std::string_view word : Split(text, ',')) {
    if (word == kIntervalCommand) {
      allowed.interval = true;
    } else if (word == kWindowCommand) {
      allowed.window = true;
    } else {
      return Invalid(Format("'{}' is neither interval nor window, nor none", Printable(text, 40)));
    }
  }
  return allowed;
}

AskRanks AskIn(Intake* intake, const std::string& job) {
  return [intake, job](const std::string& command, const std::string& argument) {
    return intake == nullptr ? 0 : intake->Ask(job, command, argument);
  };
}

std::string Obey(const ServiceCommand& command, const Allowed& allowed, Guarded<Duration>& interval,
                 const AskRanks& ask) {
  if (command.kind == kWindowCommand) {
    return allowed.window ? AskForWindow(command, ask) : NotAllowed(kWindowCommand);
  }
  if (command.kind != kIntervalCommand) {
    return Format("this agent does not know '{}'", Printable(command.kind, 40));
  }
  if (!allowed.interval) return NotAllowed(kIntervalCommand);
  if (command.interval_ms < kLeastMs || command.interval_ms > kMostMs) {
    return Format("{} ms is not between {} and {}", command.interval_ms, kLeastMs, kMostMs);
  }
  const Duration wanted = std::chrono::milliseconds(command.interval_ms);
  interval.Change([&](Duration& value) { value = wanted; });
  return "";
}

}  // namespace stepscope
