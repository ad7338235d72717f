#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/frames/secrets.h"
#include "agent/host/process_limits.h"
#include "agent/marks/intake.h"
#include "agent/sample/sampler.h"
#include "core/base/time.h"

namespace stepscope {

// The payloads of lifecycle frames: JSON, as docs/decisions/0001-first-slice.md lays them out.

// Facts of a node.
struct NodeFactsPayload {
  unsigned cores = 0;
  std::uint64_t memory_bytes = 0;
  ProcessLimits limits{};  // what the job may use of these
  std::string kernel;
  std::string agent_version;
  std::vector<std::string> allows;  // commands that the service may give: "interval", "stop"
  std::vector<GpuFacts> gpus;
  std::vector<AbsentSource> absent;
  std::vector<SlowedReading> slowed{};  // what is read more seldom, to keep to the budget
  std::string user{}, account{};        // whose job it is; the account is Slurm's, or ""
  std::string hooks_missing{};          // why a Python with torch does not show its steps
};

struct JobStart {
  Time at{};
  std::string group;
  Duration interval{};
  std::vector<std::string> command;
  NodeFactsPayload facts;
  SecretOptions secrets{};
};

// The end of the command: an exit code or a signal.
struct CommandEnd {
  int exit_code = 0;
  int signal = 0;        // 0: it ended by itself
  std::string reason{};  // what is known of why; "" where nothing is

  // The exit code that a shell would give.
  int ShellCode() const { return signal != 0 ? 128 + signal : exit_code; }
};

NodeFactsPayload ReadNodeFacts(const std::string& root);

std::string StartedEvent(const JobStart& start);
// `output` is nothing where the last lines are not known.
std::string EndedEvent(Time at, const CommandEnd& end,
                       const std::optional<std::vector<std::string>>& output);
// The result of a command of the service; an empty reason means that it is done.
std::string AnsweredEvent(Time at, const std::string& command, const std::string& reason);
// The answer to the command that asked for a window of spans.
std::string AnsweredEvent(const SpanWindowEnd& end);
// The end of a job whose processes this agent did not start: their exit codes are not known.
std::string UnobservedEndEvent(Time at);
std::string RankEvent(const RankRegistration& rank);
std::string RankEndedEvent(const RankEnd& rank);

}  // namespace stepscope
