#include <cstdio>
#include <span>
#include <string>
#include <string_view>

#include "agent/app/run.h"
#include "core/base/text.h"

namespace {

using namespace stepscope;

constexpr std::string_view kHelp =
    R"(stepscope-agent: profiles a training run on this machine

  stepscope-agent run --server URL [--job NAME] [options] -- COMMAND [ARGUMENTS]
  stepscope-agent run --help
  stepscope-agent --version
)";

constexpr std::string_view kRunHelp =
    R"(Starts COMMAND, samples this machine while it runs, and ends with its exit code.

  stepscope-agent run --server URL [--job NAME] [options] -- COMMAND [ARGUMENTS]

Examples:
  stepscope-agent run --server http://127.0.0.1:8080 --job resnet-42 -- python train.py
  stepscope-agent run --server https://stepscope.example.org --job bert-7 --group nightly \
      --interval 250ms -- torchrun --nproc-per-node 8 train.py
  srun stepscope-agent run --server http://monitor:8080 -- python train.py    # named by Slurm

Options:
)";

void Say(std::FILE* to, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), to);
}

int SayWrongUse(std::string_view sentence) {
  Say(stderr, Format("stepscope-agent: {}\n", sentence));
  return 2;
}

int Run(std::span<const char* const> words) {
  const auto arguments = ParseArguments(RunOptionTable(), words);
  if (!arguments) return SayWrongUse(arguments.error().message);
  if (arguments->help) {
    Say(stdout, Format("{}{}", kRunHelp, OptionsHelp(RunOptionTable())));
    return 0;
  }
  auto options = ReadRunOptions(*arguments);
  if (!options) return SayWrongUse(options.error().message);
  options->agent_version = STEPSCOPE_VERSION;
  StartLog("stepscope-agent", options->log_level);
  return RunCommand(*options);
}

}  // namespace

int main(int count, char** words) {
  const std::span<const char* const> arguments(words + 1, static_cast<std::size_t>(count - 1));
  const std::string_view first = arguments.empty() ? "" : arguments[0];
  if (first == "run") return Run(arguments.subspan(1));
  if (first == "--help" || first == "-h" || first == "help") return Say(stdout, kHelp), 0;
  if (first == "--version")
    return Say(stdout, Format("stepscope-agent {}\n", STEPSCOPE_VERSION)), 0;
  if (first.empty()) return SayWrongUse("say what to do: 'run', or --help");
  return SayWrongUse(
      Format("there is no command '{}'; there is 'run' (see --help)", Printable(first, 60)));
}
