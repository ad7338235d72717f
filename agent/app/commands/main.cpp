#include <malloc.h>

#include "agent/app/commands/agent_command.h"

int main(int count, char** words) {
  using namespace stepscope;
#ifdef __GLIBC__
  // Each job has threads, and a heap for each thread would keep what that has freed.
  mallopt(M_ARENA_MAX, 2);
#endif
  const AgentCommand commands[] = {RunRow(),   DaemonRow(), TopRow(),    CheckRow(),
                                   FlushRow(), RecordRow(), ReplayRow(), ImportRow()};
  const std::span<const char* const> arguments(words + 1, static_cast<std::size_t>(count - 1));
  return RunProgram(commands, arguments, STEPSCOPE_VERSION);
}
