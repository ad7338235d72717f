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

// The checked options of `stepscope-agent run` or `record`.
struct RunOptions {
  std::string job{}, group{}, node{};
  int local_rank = 0;          // among the ranks that a launcher started on this node
  std::string job_as_given{};  // where `job` has '-' for '_' and '.'; else empty
  std::string named_by{};      // launcher that gave the job's name; empty: the user
  Duration interval = 500ms;
  Duration push = 2s;
  Allowed allowed{};
  WindowSchedule schedule{};
  Duration grace = 120s;                // between SIGTERM and SIGKILL of a stop
  std::string socket{};                 // empty: a socket of the job's own
  double core_share = kUsualCoreShare;  // for all sources
  std::string root{};                   // empty: the node's own root
  bool travelling_output = true;
  bool python_hooks = true;
  bool card = false;         // print the job's card at its end
  bool strict_name = false;  // the job's name stays whatever the service knows of it
  SecretOptions secrets{};
  UplinkOptions uplink{};
  bool assumes_server = false;  // nobody named the server of `uplink`
  SpoolOptions spool{};
  std::vector<std::string> log_metrics{};  // each one a LogPattern
  std::string record_to{};                 // file that replaces the service
  std::vector<std::string> command{};      // empty only for a recording
  std::string agent_version{};             // for the service
};

// Variables for the command; they load the hooks into its Python processes, unless the hooks are
// switched off or the package is not beside this program.
std::vector<std::pair<std::string, std::string>> CommandVariables(const RunOptions& options);

std::vector<Option> RunOptionTable();

// Reads the launcher's variables too; options go before them. Every error names the option or the
// name that is wrong.
Result<RunOptions> ReadRunOptions(const Arguments& arguments);

// The options of `record`. `now` makes a name for a job without one.
std::vector<Option> RecordOptionTable();
Result<RunOptions> ReadRecordOptions(const Arguments& arguments, Time now);

}  // namespace stepscope
