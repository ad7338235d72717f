#include "agent/app/run_options.h"

#include "agent/launch/launcher.h"
#include "core/base/text.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

constexpr Option kOptions[] = {
    {"--job", "NAME", "",
     "name of the training run: letters, digits and '-'; by default what the launcher says", false,
     SaidIn::kVariable},
    {"--group", "NAME", "", "what the job is listed under; by default what the launcher says"},
    {"--socket", "PATH", "", "where training processes find the agent; one of the job by default",
     false, SaidIn::kCommandLineOnly},
    {"--no-output", "", "", "do not send the last lines of standard error with the job's end"},
};

constexpr Option kRecordOptions[] = {
    {"--out", "FILE", "", "the recording; it must not exist yet", true, SaidIn::kCommandLineOnly},
};

// A group without the job's name would be that of another launch.
void TakeNames(const Arguments& arguments, RunOptions& options) {
  const LaunchNames launch = NamesOfLaunch(Variable);
  options.job = arguments["--job"];
  if (options.job.empty()) options.named_by = launch.launcher;
  const bool named = !options.named_by.empty();
  if (named) options.job = launch.job;
  options.group = arguments["--group"];
  if (options.group.empty() && named) options.group = launch.group;
  options.node = ReadNode(arguments, launch.node);
}

Status CheckNames(const RunOptions& options) {
  if (options.job.empty()) {
    return Invalid(
        Format("--job NAME is missing, and no launcher says one ({}): give it, or set "
               "STEPSCOPE_JOB, the same on every node and new for each run",
               KnownLaunchers()));
  }
  if (Status job = CheckJobName(options.job); !job) return job;
  if (Status node = CheckLabel("--node", options.node); !node) return node;
  return options.group.empty() ? Status() : CheckLabel("--group", options.group);
}

// All but where it goes, and what the job is called.
Result<RunOptions> ReadCommon(const Arguments& arguments) {
  RunOptions options;
  options.socket = arguments["--socket"];
  options.travelling_output = !arguments.Has("--no-output");
  options.command = arguments.rest;
  TakeNames(arguments, options);
  const auto sampling = ReadSampling(arguments);
  if (!sampling) return sampling.error();
  const auto push = ReadPush(arguments);
  if (!push) return push.error();
  options.interval = sampling->interval;
  options.root = sampling->root;
  options.push = *push;
  return options;
}

}  // namespace

std::vector<Option> RunOptionTable() {
  return JoinRows({kOptions, UplinkRows(), NodeRows(), SamplingRows(), PushRows(), SpoolRows()});
}

std::vector<Option> RecordOptionTable() {
  return JoinRows({kRecordOptions, kOptions, NodeRows(), SamplingRows(), PushRows()});
}

Result<RunOptions> ReadRunOptions(const Arguments& arguments) {
  auto options = ReadCommon(arguments);
  if (!options) return options.error();
  const auto uplink = ReadUplink(arguments);
  if (!uplink) return uplink.error();
  if (Status names = CheckNames(*options); !names) return names.error();
  const auto allowed = ReadAllowed(arguments);
  if (!allowed) return allowed.error();
  options->allowed = *allowed;
  const auto spool = ReadSpool(arguments);
  if (!spool) return spool.error();
  options->uplink = *uplink;
  options->spool = *spool;
  if (options->command.empty() || options->command[0].empty()) {
    return Invalid("the command to run is missing: put it behind '--'");
  }
  return *options;
}

Result<RunOptions> ReadRecordOptions(const Arguments& arguments, Time now) {
  auto options = ReadCommon(arguments);
  if (!options) return options.error();
  options->record_to = arguments["--out"];
  if (options->job.empty()) options->job = Format("recording-{}", ToMicros(now) / 1'000'000);
  if (Status names = CheckNames(*options); !names) return names.error();
  if (!options->command.empty() && options->command[0].empty()) {
    return Invalid("the command to run is empty");
  }
  return *options;
}

}  // namespace stepscope
