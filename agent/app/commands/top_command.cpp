// The command `stepscope-agent top`.

#include "agent/app/commands/agent_command.h"
#include "agent/app/commands/top.h"

namespace stepscope {
namespace {

constexpr std::string_view kTopHelp =
    R"(Shows this machine and its jobs live: cores, GPUs, memory, disks, networks, and of each rank that an
agent on this machine serves how long its steps take and where in them the time goes. Needs no
service. 'q' or Ctrl-C ends it. Where output is no terminal, or with --once, it prints one picture.

  stepscope-agent top [options]

Examples:
  stepscope-agent top
  stepscope-agent top --once
  ssh -t gpu-07 stepscope-agent top --every 2s
  NO_COLOR=1 stepscope-agent top
)";

constexpr Option kTopOptions[] = {
    {"--every", "TIME", "1s", "time between two pictures, 100ms to 60s"},
    {"--once", "", "", "print one picture and end", false, OptionSource::kCommandLineOnly},
    {"--socket", "PATH", "",
     "ask only the agent that training processes find there; by default all of this user and that "
     "of the node",
     false, OptionSource::kCommandLineOnly},
    {"--root", "DIR", "", "read /proc and /sys of the machine below this folder"},
};

int Run(const Arguments& arguments, std::string_view) {
  const auto every = ReadDuration(arguments, "--every", 100ms, 60s);
  if (!every) return ReportUsageError(every.error().message);
  return RunTop({.every = *every,
                 .once = arguments.Has("--once"),
                 .socket = arguments["--socket"],
                 .root = arguments["--root"],
                 .node = ReadNode(arguments, "")});
}

}  // namespace

AgentCommand TopRow() {
  return {.name = "top",
          .sentence = "shows this machine and its jobs live in the terminal",
          .help = kTopHelp,
          .options = JoinRows({kTopOptions, NodeRows()}),
          .run = Run};
}

}  // namespace stepscope
