#include "agent/app/job/first_agent.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "agent/app/job/live_socket.h"
#include "agent/marks/intake.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// All ranks of a node start at about the same time.
constexpr Duration kFirstStartsWithin = 2s;
constexpr Duration kAskAgain = 50ms;

std::string SocketPath(const RunOptions& options) {
  if (!options.socket.empty()) return options.socket;
  const auto standard = DefaultSocketPath(options.job);
  return standard ? *standard : "";
}

}  // namespace

std::string SocketOfFirstAgent(const RunOptions& options) {
  if (options.local_rank == 0 || options.command.empty() || !options.record_to.empty()) return "";
  const std::string path = SocketPath(options);
  const SystemClock clock;
  const SteadyTime until = clock.Steady() + kFirstStartsWithin;
  while (!path.empty() && clock.Steady() < until) {
    if (AskAgent(path + kLiveEnding)) return path;
    poll(nullptr, 0, kAskAgain / 1ms);
  }
  LogWarning("rank {} of this node found no agent of the first one: it has one of its own",
             options.local_rank);
  return "";
}

int BecomeCommand(const RunOptions& options, const std::string& socket) {
  LogInfo("job {}: rank {} of this node goes under the agent at {}", options.job,
          options.local_rank, socket);
  setenv("STEPSCOPE_SOCKET", socket.c_str(), 1);
  for (const auto& [name, value] : CommandVariables(options)) {
    setenv(name.c_str(), value.c_str(), 1);
  }
  unsetenv(kTokenVariable);
  std::vector<char*> words;
  for (const std::string& word : options.command) words.push_back(const_cast<char*>(word.c_str()));
  words.push_back(nullptr);
  execvp(words[0], words.data());
  const int fault = errno;
  LogError("{}: {}", Printable(options.command[0]), std::strerror(fault));
  return fault == ENOENT ? 127 : 126;
}

}  // namespace stepscope
