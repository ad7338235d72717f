// The command `stepscope-agent daemon`.

#include "agent/app/commands/agent_command.h"
#include "agent/app/commands/daemon.h"

namespace stepscope {
namespace {

constexpr std::string_view kDaemonHelp =
    R"(Samples this machine for every training process that registers, and sends the samples to the
jobs that these processes name. Ends by a signal.

  stepscope-agent daemon --server URL [options]

Examples:
  stepscope-agent daemon --server http://127.0.0.1:8080
  stepscope-agent daemon --server https://stepscope.example.org --token-file /etc/stepscope/token \
      --allow-users all                                  # as root, for everybody on the node
  STEPSCOPE_JOB=resnet-42 python train.py                # a process that the daemon attaches
)";

int RunDaemonCommand(const Arguments& arguments, std::string_view version) {
  auto options = ReadDaemonOptions(arguments);
  if (!options) return ReportUsageError(options.error().message);
  options->jobs.agent_version = version;
  return RunDaemon(*options);
}

}  // namespace

AgentCommand DaemonRow() {
  return {.name = "daemon",
          .sentence = "profiles every training process on this node that registers",
          .help = kDaemonHelp,
          .options = DaemonOptionTable(),
          .run = RunDaemonCommand};
}

}  // namespace stepscope
