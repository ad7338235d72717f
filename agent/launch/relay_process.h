#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "agent/launch/output_tail.h"

namespace stepscope {

// What the relay's process and the agent share.
struct RelayMemory {
  OutputTail tail;
  std::atomic<std::uint64_t> lines_lost{0};
};

// One way that output takes.
struct RelayChannel {
  int from = -1, to = -1;
  bool remembered = false;   // in the tail
  bool ends_unread = false;  // the command learns by a signal that nobody reads
};

// What the relay works on.
struct RelayWork {
  std::array<RelayChannel, 2> channels{};
  int control = -1;  // the agent's questions
  int lines = -1;    // where lines go; never waits
};

// Makes the terminal `to` as large as `from`.
void CopyTerminalSize(int from, int to);

// The relay, until the last writer is gone. In a process with one thread.
[[noreturn]] void RunRelay(RelayWork work, RelayMemory& memory);

}  // namespace stepscope
