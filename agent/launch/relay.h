#pragma once

#include <sys/types.h>

#include <memory>
#include <string>
#include <vector>

#include "agent/launch/output_tail.h"
#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// Passes on what the command writes to its standard error, and remembers the end of it. A process
// of its own: it lives until the last writer is gone, so that killing the agent neither breaks the
// command nor loses a byte of its output. Where our standard error is a terminal, the command gets
// one as well, of the same size.
class Relay {
 public:
  // Forks, so it is called before any thread starts. Unavailable when the system has no room.
  static Result<std::unique_ptr<Relay>> Start();
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // What the command is to have as its standard error.
  int input() const { return input_.get(); }

  // To be called when the command has it, so that its end is seen.
  void CloseInput() { input_ = Descriptor(); }

  // Waits until everything written so far is passed on, and returns the last lines as they may
  // travel.
  std::vector<std::string> Drain(Duration at_most);

 private:
  Relay() = default;

  Descriptor input_;
  Descriptor control_;
  OutputTail* tail_ = nullptr;  // shared with the other process
};

}  // namespace stepscope
