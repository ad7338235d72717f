// The command `stepscope-agent record`.

#include "agent/app/commands/agent_command.h"
#include "agent/app/commands/run.h"
#include "core/base/clock.h"

namespace stepscope {
namespace {

constexpr std::string_view kRecordHelp =
    R"(Does what 'run' does, and writes to a file what 'run' would send: where no service can be reached.
Without a command it records this machine until it is interrupted.

  stepscope-agent record --out FILE [--job NAME] [options] [-- COMMAND [ARGUMENTS]]

Examples:
  stepscope-agent record --out resnet.rec --job resnet-42 -- python train.py
  stepscope-agent record --out node7.rec --interval 100ms       # Ctrl-C ends it
  stepscope-agent replay resnet.rec --server http://monitor:8080
)";

int Record(const Arguments& arguments, std::string_view version) {
  auto options = ReadRecordOptions(arguments, SystemClock().Now());
  if (!options) return ReportUsageError(options.error().message);
  options->agent_version = version;
  return RunCommand(*options);
}

}  // namespace

AgentCommand RecordRow() {
  return {.name = "record",
          .sentence = "profiles a command, or the machine, into a file",
          .help = kRecordHelp,
          .options = RecordOptionTable(),
          .run = Record,
          .takes_command = true};
}

}  // namespace stepscope
