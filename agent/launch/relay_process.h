#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "agent/launch/output_tail.h"

namespace stepscope {

// Memory that the relay's process and the agent share.
struct RelayMemory {
  OutputTail tail;
  std::atomic<std::uint64_t> lines_lost{0};
};

// The path of one output.
struct RelayChannel {
  int from = -1, to = -1;
  bool remembered = false;   // kept in the tail
  bool ends_unread = false;  // a signal tells the command that the reader is gone
};

// The relay's descriptors.
struct RelayWork {
  std::array<RelayChannel, 2> channels{};
  int control = -1;  // the agent's questions
  int lines = -1;    // the pipe for lines; writing never waits
};

// Sets the size of the terminal `to` to that of `from`.
void CopyTerminalSize(int from, int to);

// Runs the relay until the last writer is gone. In a process with one thread.
[[noreturn]] void RunRelay(RelayWork work, RelayMemory& memory);

}  // namespace stepscope
