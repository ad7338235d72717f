#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/marks/intake.h"
#include "core/base/guarded.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/wire/push_answer.h"

namespace stepscope {

// What the service may ask of an agent: it is authority over this machine, so the agent does only
// what it was started with.
struct Allowed {
  bool interval = true;
  bool spans = true;    // it costs the training nothing, and says no more than statistics name
  bool window = false;  // it slows the training down while it is recorded
  bool stop = false;    // it ends the training

  bool operator==(const Allowed&) const = default;
};

// "interval", "spans", "window", "stop", several with commas between them, or "none". Invalid names
// what it is not.
Result<Allowed> ParseAllowed(std::string_view text);

// The words of it, for the service.
std::vector<std::string> WordsOf(const Allowed& allowed);

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
struct Powers {
  Guarded<Duration>& interval;
  AskRanks ask = nullptr;                // null: nobody is heard
  KeepSpans keep = nullptr;              // the same
  std::function<void()> stop = nullptr;  // begins to end the command; null: it runs none
};

// Does what the service asks for. Why not, or nothing when it is done. A window is done when the
// processes are asked: what becomes of it is a fact of each rank. A stop is done when it has begun.
// Nothing for spans means that they are kept: the end of their window is the answer.
std::string Obey(const ServiceCommand& command, const Allowed& allowed, const Powers& powers);

}  // namespace stepscope
