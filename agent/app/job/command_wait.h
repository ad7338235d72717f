#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "agent/launch/command.h"
#include "core/base/clock.h"
#include "core/base/event.h"

namespace stepscope {

// What is done while the command runs, by the main thread.
struct CommandWait {
  const ProfiledCommand* command = nullptr;  // null: somebody ends the wait with a signal
  CommandSignals& signals;
  std::function<Duration()> update;                   // says when it is to be called again
  const Event& stop;                                  // set by whoever wants the command to end
  std::function<std::vector<std::int64_t>()> others;  // that end with it, if no part of it
  Duration grace{};                                   // between SIGTERM and SIGKILL
  const Clock& clock;
};

// How the command ended. One that is stopped has ended when nothing that it started is left.
CommandEnd WaitForEnd(const CommandWait& wait);

}  // namespace stepscope
