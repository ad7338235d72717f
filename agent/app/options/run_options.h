#pragma once

#include <string>
#include <utility>
#include <vector>

#include "agent/app/options/common_options.h"
#include "agent/app/options/spool_options.h"
#include "core/base/options.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// What `stepscope-agent run` or `record` was told, checked.
struct RunOptions {
  std::string job{}, group{}, node{};
  int local_rank = 0;      // among those that a launcher started on this node
  std::string named_by{};  // the launcher that gave the job's name; empty: the person
  Duration interval = 500ms;
  Duration push = 2s;
  Allowed allowed{};
  Duration grace = 120s;  // between SIGTERM and SIGKILL of a stop
  std::string socket{};   // empty: one of the job's own
  std::string root{};     // empty: the node's own
  bool travelling_output = true;
  bool python_hooks = true;
  UplinkOptions uplink{};
  SpoolOptions spool{};
  std::vector<std::string> log_metrics{};  // each one a LogPattern
  std::string record_to{};                 // a file instead of the service
  std::vector<std::string> command{};      // only a recording may have none
  std::string agent_version{};             // for the service
};

// What the command gets to know, and what lets the hooks into its Python processes, unless they are
// switched off or the package is not beside this program.
std::vector<std::pair<std::string, std::string>> CommandVariables(const RunOptions& options);

std::vector<Option> RunOptionTable();

// Reads what a launcher says too; options go before. Every error names the option or the name that
// is wrong.
Result<RunOptions> ReadRunOptions(const Arguments& arguments);

// The same for `record`. `now` names a job that nobody named.
std::vector<Option> RecordOptionTable();
Result<RunOptions> ReadRecordOptions(const Arguments& arguments, Time now);

}  // namespace stepscope
