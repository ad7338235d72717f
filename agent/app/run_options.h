#pragma once

#include <span>
#include <string>
#include <vector>

#include "agent/send/uplink.h"
#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// What `stepscope-agent run` was told, checked.
struct RunOptions {
  std::string job{}, group{}, node{};
  std::string named_by{};  // the launcher that gave the job's name; empty: the person
  Duration interval = 500ms;
  Duration push = 2s;
  std::string socket;  // empty: one of the job's own
  std::string root;    // empty: the node's own
  bool travelling_output = true;
  UplinkOptions uplink{};
  LogLevel log_level = LogLevel::kInfo;
  std::vector<std::string> command;
  std::string agent_version{};  // for the service
};

// Holds the token where no file can; nobody but the agent gets to see it.
inline constexpr const char* kTokenVariable = "STEPSCOPE_TOKEN";

std::span<const Option> RunOptionTable();

// Reads the environment too: kTokenVariable, STEPSCOPE_CA_FILE, STEPSCOPE_JOB, STEPSCOPE_GROUP,
// STEPSCOPE_NODE and what a launcher says; options go before. Every error names the option or the
// name that is wrong.
Result<RunOptions> ReadRunOptions(const Arguments& arguments);

}  // namespace stepscope
