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

struct RelayMemory;

// Passes on what the command writes to its standard error, and remembers the end of it; with
// `lines` also what it writes to its standard output, and every line of both is to be had. A
// process of its own: it lives until the last writer is gone, so that killing the agent neither
// breaks the command nor loses a byte of its output. Where ours is a terminal, the command gets one
// as well, of the same size; where both go to the same place, they keep their order.
class Relay {
 public:
  // Forks, so it is called before any thread starts. Unavailable when the system has no room.
  static Result<std::unique_ptr<Relay>> Start(bool lines = false);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // What the command is to have as its standard error and output; -1: ours.
  int error() const { return error_.get(); }
  int output() const { return shared_ ? error_.get() : output_.get(); }

  // Gives away the end from which lines can be read, each with a line end; reading never waits.
  // Those for which there was no room are lost, and counted.
  Descriptor TakeLines() { return std::move(lines_); }
  std::uint64_t lines_lost() const;

  // To be called when the command has them, so that its end is seen.
  void CloseInputs();

  // Waits until everything written so far is passed on, and returns the last lines as they may
  // travel.
  std::vector<std::string> Drain(Duration at_most);

 private:
  Relay() = default;

  Descriptor error_, output_, lines_, control_;
  bool shared_ = false;            // the output has the same input as the error
  RelayMemory* memory_ = nullptr;  // shared with the other process
};

}  // namespace stepscope
