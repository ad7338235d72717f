// The command `stepscope-agent run`.

#include "agent/app/commands/agent_command.h"
#include "agent/app/commands/run.h"

namespace stepscope {
namespace {

constexpr std::string_view kRunHelp =
    R"(Starts COMMAND, samples this machine while it runs, and ends with its exit code.

  stepscope-agent run [--server URL] [--job NAME] [options] -- COMMAND [ARGUMENTS]

Examples:
  stepscope-agent run --server http://127.0.0.1:8080 --job resnet-42 -- python train.py
  stepscope-agent run --server https://stepscope.example.org --job bert-7 --group nightly \
      --interval 250ms -- torchrun --nproc-per-node 8 train.py
  stepscope-agent run --server http://127.0.0.1:8080 --job gpt-3 \
      --log-metric 'throughput=samples/s: ([0-9.]+)' -- python train.py
  srun stepscope-agent run --server http://monitor:8080 -- python train.py    # named by Slurm
)";

int RunRunCommand(const Arguments& arguments, std::string_view version) {
  auto options = ReadRunOptions(arguments);
  if (!options) return ReportUsageError(options.error().message);
  options->agent_version = version;
  return RunCommand(*options);
}

}  // namespace

AgentCommand RunRow() {
  return {.name = "run",
          .sentence = "starts a command and profiles it until it ends",
          .help = kRunHelp,
          .options = RunOptionTable(),
          .run = RunRunCommand,
          .takes_command = true};
}

}  // namespace stepscope
