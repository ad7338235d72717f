#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

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
  bool window = false;  // it slows the training down while it is recorded
};

// "interval", "window", both with a comma between them, or "none". Invalid names what it is not.
Result<Allowed> ParseAllowed(std::string_view text);

// Asks the training processes; how many of them could be told.
using AskRanks =
    std::function<std::size_t(const std::string& command, const std::string& argument)>;

// Asks those of a job that `intake` hears, which may be null and outlives it.
AskRanks AskIn(Intake* intake, const std::string& job);

// Does what the service asks for. Why not, or nothing when it is done. A window is done when the
// processes are asked: what becomes of it is a fact of each rank.
std::string Obey(const ServiceCommand& command, const Allowed& allowed, Guarded<Duration>& interval,
                 const AskRanks& ask);

}  // namespace stepscope
