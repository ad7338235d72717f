#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "agent/app/options/allowed.h"
#include "agent/marks/intake.h"
#include "core/base/guarded.h"
#include "core/base/time.h"
#include "core/wire/push_answer.h"

namespace stepscope {

// Sends a request to the training processes; returns how many it could be sent to.
using AskRanks =
    std::function<std::size_t(const std::string& command, const std::string& argument)>;

// An AskRanks for the job's processes that are connected to `intake`, which may be null and
// outlives it.
AskRanks AskIn(Intake* intake, const std::string& job);

// Keeps the spans of a window; returns the reason why not, or "".
using KeepSpans = std::function<std::string(const SpanWindow& window)>;

// A KeepSpans for the job's processes that are connected to `intake`, which may be null and
// outlives it.
KeepSpans KeepIn(Intake* intake, const std::string& job);

// The agent's functions for commands of the service. Objects that they use outlive it.
struct CommandHandlers {
  Guarded<Duration>& interval;
  AskRanks ask = nullptr;                // null: no process can connect
  KeepSpans keep = nullptr;              // null: no process can connect
  std::function<void()> stop = nullptr;  // begins to stop the command; null: there is none
};

// Executes a command of the service; returns the reason why not, or "" when it is done. A window is
// done when the processes are asked: its result is a fact of each rank. A stop is done when it has
// begun. Spans are answered at the end of their window; "" means that they are kept.
std::string ExecuteCommand(const ServiceCommand& command, const Allowed& allowed,
                           const CommandHandlers& powers);

}  // namespace stepscope
