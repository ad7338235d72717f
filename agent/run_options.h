#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// What `stepscope-agent run` was told, checked.
struct RunOptions {
  std::string server, job, group, node;
  Duration interval = 500ms;
  Duration push = 2s;
  std::string socket;  // empty: one of the job's own
  std::string root;    // empty: the node's own
  bool travelling_output = true;
  std::string ca_file, token_file;
  LogLevel log_level = LogLevel::kInfo;
  std::vector<std::string> command;
  std::string agent_version{};  // for the service
};

std::span<const Option> RunOptionTable();

// Every error names the option or the name that is wrong.
Result<RunOptions> ReadRunOptions(const Arguments& arguments);

}  // namespace stepscope
