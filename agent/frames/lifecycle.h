#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/marks/intake.h"
#include "agent/sample/sampler.h"
#include "core/base/time.h"

namespace stepscope {

// The payloads of lifecycle frames: JSON, as docs/decisions/0001-first-slice.md lays them out.

// What the node is.
struct NodeFactsPayload {
  unsigned cores = 0;
  std::uint64_t memory_bytes = 0;
  std::string kernel;
  std::string agent_version;
  std::vector<std::string> allows;  // what the service may ask for: "interval", "stop"
  std::vector<GpuFacts> gpus;
  std::vector<AbsentSource> absent;
};

struct JobStart {
  Time at{};
  std::string group;
  Duration interval{};
  std::vector<std::string> command;
  NodeFactsPayload facts;
};

// How the command ended: with an exit code or by a signal.
struct CommandEnd {
  int exit_code = 0;
  int signal = 0;  // 0: it ended by itself

  // What a shell would end with.
  int ShellCode() const { return signal != 0 ? 128 + signal : exit_code; }
};

NodeFactsPayload ReadNodeFacts(const std::string& root);

std::string StartedEvent(const JobStart& start);
std::string EndedEvent(Time at, const CommandEnd& end, const std::vector<std::string>& output);
// What became of a command of the service. An empty reason: it was done.
std::string AnsweredEvent(Time at, const std::string& command, const std::string& reason);
// The answer to the command that asked for a window of spans.
std::string AnsweredEvent(const SpanWindowEnd& end);
// Of processes that this agent did not start: how they ended is not known.
std::string UnobservedEndEvent(Time at);
std::string RankEvent(const RankRegistration& rank);
std::string RankEndedEvent(const RankEnd& rank);

}  // namespace stepscope
