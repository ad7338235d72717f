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

// Asks the training processes; how many of them could be told.
using AskRanks =
    std::function<std::size_t(const std::string& command, const std::string& argument)>;

// Asks those of a job that `intake` hears, which may be null and outlives it.
AskRanks AskIn(Intake* intake, const std::string& job);

// Keeps the spans of a window; why not, or nothing.
using KeepSpans = std::function<std::string(const SpanWindow& window)>;

// Keeps those of a job that `intake` hears, which may be null and outlives it.
KeepSpans KeepIn(Intake* intake, const std::string& job);

// What an agent can do about what it is asked for. What it refers to outlives it.
struct CommandHandlers {
  Guarded<Duration>& interval;
  AskRanks ask = nullptr;                // null: nobody is heard
  KeepSpans keep = nullptr;              // the same
  std::function<void()> stop = nullptr;  // begins to end the command; null: it runs none
};

// Does what the service asks for. Why not, or nothing when it is done. A window is done when the
// processes are asked: what becomes of it is a fact of each rank. A stop is done when it has begun.
// Nothing for spans means that they are kept: the end of their window is the answer.
std::string ExecuteCommand(const ServiceCommand& command, const Allowed& allowed,
                           const CommandHandlers& powers);

}  // namespace stepscope
