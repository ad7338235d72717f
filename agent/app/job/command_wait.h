#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "agent/launch/command.h"
#include "core/base/clock.h"
#include "core/base/event.h"

namespace stepscope {

// The main thread's work while the command runs.
struct CommandWait {
  ProfiledCommand* command = nullptr;  // null: a signal ends the wait
  CommandSignals& signals;
  std::function<Duration()> update;  // returns when to call it again
  const Event& stop;                 // set when the command is to end
  // Processes that are stopped with the command without being its children.
  std::function<std::vector<std::int64_t>()> others;
  Duration grace{};  // between SIGTERM and SIGKILL
  const Clock& clock;
};

// Waits until the command ends. A command that is stopped has ended when none of its processes is
// left.
CommandEnd WaitForEnd(const CommandWait& wait);

}  // namespace stepscope
