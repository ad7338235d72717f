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

// Passes on the command's standard error, and keeps the last lines; with `lines` also its standard
// output, and every line of both can be read. Where both go to the same place, both go through one
// input, so that they keep their order, and the last lines are those of both. A process of its own:
// it lives until the last writer is gone, so that killing the agent neither breaks the command nor
// loses a byte of its output. Where ours is a terminal, the command gets one as well, of the same
// size, which is not its controlling one: no keys come from it, and no job control.
class Relay {
 public:
  // Forks, so it is called before any thread starts. Unavailable when the system lacks the
  // resources.
  static Result<std::unique_ptr<Relay>> Start(bool lines = false);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  // The command's standard error and output; -1: ours.
  int error() const { return error_.get(); }
  int output() const { return shared_ ? error_.get() : output_.get(); }

  // Gives away the end from which lines can be read, each with a line end; reading never waits.
  // Lines for which there is no room are lost, and counted.
  Descriptor TakeLines() { return std::move(lines_); }
  std::uint64_t lines_lost() const;

  // To be called when the command has its inputs, so that their end is noticed.
  void CloseInputs();

  // Waits until all output so far is passed on, and returns the last lines, cleaned. The values of
  // `secret_names` are hidden, too.
  std::vector<std::string> Drain(Duration at_most, const std::vector<std::string>& secret_names);

 private:
  Relay() = default;

  Descriptor error_, output_, lines_, control_;
  bool shared_ = false;            // output and error share one input
  RelayMemory* memory_ = nullptr;  // shared with the relay's process
};

}  // namespace stepscope
