#include "agent/app/job/execute_command.h"

#include <algorithm>
#include <iterator>
#include <string_view>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLeastMs = 100, kMostMs = 60'000;
constexpr std::int64_t kMostSteps = 1000;  // steps of one window
constexpr std::int64_t kMostStep = std::int64_t{1} << 53, kMostWaitSeconds = 86'400;

std::string AskForWindow(const ServiceCommand& command, const AskRanks& ask) {
  if (command.start_step < 0 || command.num_steps < 1 || command.num_steps > kMostSteps) {
    return Format("{} steps from step {} are no window of 1 to {} steps", command.num_steps,
                  command.start_step, kMostSteps);
  }
  const std::string steps =
      Format("window {} steps from step {}", command.num_steps, command.start_step);
  const bool delivered = ask && ask(std::string(kWindowCommand), steps) > 0;
  return delivered ? "" : "no training process is connected";
}

std::string KeepSpansOf(const ServiceCommand& command, const Allowed& allowed,
                        const KeepSpans& keep) {
  const bool sane = command.start_step >= 0 && command.start_step <= kMostStep &&
                    command.num_steps >= 1 && command.num_steps <= kMostSteps;
  if (!sane) {
    return Format("{} steps from step {} are no window of 1 to {} steps", command.num_steps,
                  command.start_step, kMostSteps);
  }
  if (!keep) return "this agent hears no training processes";
  const Duration wait =
      std::chrono::seconds(std::clamp<std::int64_t>(command.wait_seconds, 1, kMostWaitSeconds));
  SpanWindow window{command.window_id, command.start_step,
                    command.start_step + command.num_steps - 1, command.id, wait};
  if (command.operators && allowed.window) {
    window.ask =
        Format("window {} steps from step {} for window {}{}", command.num_steps,
               command.start_step, command.window_id, command.shapes ? " with shapes" : "");
  } else if (command.operators) {
    window.remark =
        "operators were not recorded: the agent was started with --windows off, or "
        "with an --allow without window";
  }
  return keep(window);
}

std::string ChangeInterval(const ServiceCommand& command, Guarded<Duration>& interval) {
  if (command.interval_ms < kLeastMs || command.interval_ms > kMostMs) {
    return Format("{} ms is not between {} and {}", command.interval_ms, kLeastMs, kMostMs);
  }
  const Duration wanted = std::chrono::milliseconds(command.interval_ms);
  interval.Change([&](Duration& value) { value = wanted; });
  return "";
}

std::string BeginStop(const std::function<void()>& stop) {
  if (!stop) return "this agent did not start the processes; stepscope-agent run does";
  stop();
  return "";
}

// A kind of command, and the function that executes it.
struct Kind {
  std::string_view word;
  std::string (*obey)(const ServiceCommand& command, const Allowed& allowed,
                      const CommandHandlers& powers);
};
constexpr Kind kKinds[] = {
    {kIntervalCommand, [](const auto& command, const auto&,
                          const auto& powers) { return ChangeInterval(command, powers.interval); }},
    {kSpansCommand, [](const auto& command, const auto& allowed,
                       const auto& powers) { return KeepSpansOf(command, allowed, powers.keep); }},
    {kWindowCommand, [](const auto& command, const auto&,
                        const auto& powers) { return AskForWindow(command, powers.ask); }},
    {kStopCommand,
     [](const auto&, const auto&, const auto& powers) { return BeginStop(powers.stop); }},
};

const Kind* FindKind(std::string_view word) {
  const auto found = std::ranges::find(kKinds, word, &Kind::word);
  return found == std::end(kKinds) ? nullptr : found;
}

}  // namespace

AskRanks AskIn(Intake* intake, const std::string& job) {
  return [intake, job](const std::string& command, const std::string& argument) {
    return intake == nullptr ? 0 : intake->Ask(job, command, argument);
  };
}

KeepSpans KeepIn(Intake* intake, const std::string& job) {
  if (intake == nullptr) return nullptr;
  return [intake, job](const SpanWindow& window) { return intake->KeepSpans(job, window); };
}

std::string ExecuteCommand(const ServiceCommand& command, const Allowed& allowed,
                           const CommandHandlers& powers) {
  const Kind* kind = FindKind(command.kind);
  if (kind == nullptr) {
    return Format("this agent does not know '{}'", Printable(command.kind, 40));
  }
  if (Allows(allowed, kind->word)) return kind->obey(command, allowed, powers);
  return Format("the agent was started without --allow {}", kind->word);
}

}  // namespace stepscope
