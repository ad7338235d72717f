// The command `stepscope-agent check`.

#include <unistd.h>

#include "agent/app/commands/agent_command.h"
#include "agent/app/commands/check.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kCheckHelp =
    R"(Says what the agent can and cannot see on this machine, and whether the service takes samples.

  stepscope-agent check [--server URL] [options] [-- COMMAND]

Examples:
  stepscope-agent check
  stepscope-agent check --server https://monitor:8443 --token-file agent.token
  stepscope-agent check -- /opt/env/bin/python -I train.py    # would its steps be seen? It is not run
  stepscope-agent check --cost --interval 100ms               # CPU time of each source and driver call
  stepscope-agent check --json | jq '.checks[] | select(.finding == "wrong")'

Each line is 'ok', 'none' (not here, or not asked for), 'note' (works, but read it) or 'wrong'.
Ends with 0 when nothing is wrong, else with 1.
)";

constexpr Option kCheckOptions[] = {
    {"--cost", "", "", "also what reading each source, and each call into a GPU's driver, costs",
     false, OptionSource::kCommandLineOnly},
    {"--json", "", "", "as JSON, for programs", false, OptionSource::kCommandLineOnly},
};

std::vector<Option> Rows() {
  std::vector<Option> table = JoinRows({kCheckOptions, UplinkRows(), SamplingRows(), SpoolRows()});
  for (Option& option : table) option.required = false;
  return table;
}

CheckLine ConfigLine(const std::string& path) {
  const bool read = access(path.c_str(), R_OK) == 0;
  return {"settings", "file", read ? CheckResult::kFine : CheckResult::kAbsent,
          Format("{}{}", Printable(path), read ? "" : ": there is none for this user")};
}

int Check(const Arguments& arguments, std::string_view version) {
  UplinkOptions uplink;
  if (arguments.Has("--server")) {
    auto read = ReadUplink(arguments);
    if (!read) return ReportUsageError(read.error().message);
    uplink = *read;
  }
  const auto sampling = ReadSampling(arguments);
  if (!sampling) return ReportUsageError(sampling.error().message);
  const auto spool = ReadSpool(arguments);
  if (!spool) return ReportUsageError(spool.error().message);
  const SystemClock clock;
  CheckLines lines{ConfigLine(arguments["--config"])};
  CheckMachine(sampling->root, clock, lines);
  if (arguments.Has("--cost")) CheckCost(*sampling, clock, lines);
  CheckTraining(clock, lines);
  CheckPython(arguments.rest, clock, lines);
  CheckService(uplink, clock, lines);
  CheckSpool(*spool, lines);
  PrintText(arguments.Has("--json")
                ? ToJsonText(lines, version)
                : Format("stepscope-agent {}\n\n{}", version, ToPlainText(lines)));
  return AllIsWell(lines) ? 0 : kFailed;
}

}  // namespace

AgentCommand CheckRow() {
  return {.name = "check",
          .sentence = "says what it sees on this machine, and whether the service takes samples",
          .help = kCheckHelp,
          .options = Rows(),
          .run = Check,
          .takes_command = true};
}

}  // namespace stepscope
