#include "agent/app/options/run_options.h"

#include <set>
#include <utility>

#include "agent/launch/launcher.h"
#include "agent/launch/log_metric.h"
#include "agent/launch/python_start.h"
#include "core/base/text.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

// Where a service listens that was started without options.
constexpr const char* kUsualServer = "http://127.0.0.1:8080";

constexpr Option kRunOptions[] = {
    {"--job", "NAME", "",
     "name of the training run: letters, digits and '-', which '_' and '.' become; by default what "
     "the launcher says",
     false, OptionSource::kVariable},
    {"--strict-name", "", "",
     "keep the job's name where a job of this name has ended: the run goes on unprofiled then, and "
     "is not called NAME-2"},
    {"--group", "NAME", "", "what the job is listed under; by default what the launcher says"},
    {"--socket", "PATH", "", "where training processes find the agent; one of the job by default",
     false, OptionSource::kCommandLineOnly},
    {"--no-output", "", "",
     "do not send the last lines of standard error with the job's end; those of a terminal are not "
     "read anyway"},
    {"--no-python", "", "",
     "leave the command's Python processes alone: only steps that a script marks are seen"},
    {"--log-metric", "NAME=PATTERN", "",
     "metric user.NAME from the command's output: what the pattern has in parentheses; may be "
     "given "
     "several times",
     false, OptionSource::kAnywhere, true},
};

constexpr Option kEndOptions[] = {
    {"--grace", "TIME", "120s",
     "time the command has to end after SIGTERM when the service stops it, before SIGKILL; 1s to "
     "1h"},
    {"--card", "", "",
     "print the job's card to standard error when it has ended: what the time went to and what to "
     "do, about 25 lines; waits up to 15 s for the verdict. The token must be one that may read"},
};

constexpr Option kRecordOptions[] = {
    {"--out", "FILE", "", "the recording; it must not exist yet", true,
     OptionSource::kCommandLineOnly},
};

// A group is taken only with the job's name, or it would be another launch's.
void TakeNames(const Arguments& arguments, RunOptions& options) {
  const LaunchNames launch = NamesOfLaunch(Variable);
  options.job = arguments["--job"];
  if (options.job.empty()) options.named_by = launch.launcher;
  if (std::string allowed = AllowedJobName(options.job); allowed != options.job) {
    options.job_as_given = std::exchange(options.job, std::move(allowed));
  }
  const bool named = !options.named_by.empty();
  if (named) options.job = launch.job;
  options.group = arguments["--group"];
  if (options.group.empty() && named) options.group = launch.group;
  options.node = ReadNode(arguments, launch.node);
  options.local_rank = LocalRankOf(Variable);
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

Status CheckLogMetrics(const std::vector<std::string>& texts) {
  std::set<std::string> metrics;
  for (const std::string& text : texts) {
    const auto pattern = LogPattern::Parse(text);
    if (!pattern) return pattern.error();
    if (metrics.insert(pattern->metric()).second) continue;
    return Invalid(Format("--log-metric {}: this name is there twice", Printable(text, 80)));
  }
  return {};
}

// Reads all options but the destination and the job's name.
Result<RunOptions> ReadCommon(const Arguments& arguments) {
  RunOptions options;
  options.socket = arguments["--socket"];
  options.travelling_output = !arguments.Has("--no-output");
  options.strict_name = arguments.Has("--strict-name");
  options.python_hooks = !arguments.Has("--no-python");
  options.command = arguments.rest;
  options.log_metrics = arguments.All("--log-metric");
  TakeNames(arguments, options);
  const auto secrets = ReadSecrets(arguments);
  if (!secrets) return secrets.error();
  options.secrets = *secrets;
  if (Status good = CheckLogMetrics(options.log_metrics); !good) return good.error();
  const auto sampling = ReadSampling(arguments);
  if (!sampling) return sampling.error();
  const auto push = ReadPush(arguments);
  if (!push) return push.error();
  options.interval = sampling->interval;
  options.root = sampling->root;
  options.core_share = sampling->core_share;
  options.push = *push;
  return options;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> CommandVariables(const RunOptions& options) {
  std::vector<std::pair<std::string, std::string>> variables = {{"STEPSCOPE_JOB", options.job},
                                                                {"STEPSCOPE_NODE", options.node}};
  if (!options.python_hooks) return variables;
  for (auto& each : PythonVariables(PythonStartFolder(OwnProgram()), Variable)) {
    variables.push_back(std::move(each));
  }
  return variables;
}

std::vector<Option> RunOptionTable() {
  std::vector<Option> table = JoinRows({kRunOptions, UplinkRows(), NodeRows(), SecretRows(),
                                        SamplingRows(), PushRows(), kEndOptions, SpoolRows()});
  for (Option& option : table) option.required = false;  // ReadRunOptions knows a server
  return table;
}

std::vector<Option> RecordOptionTable() {
  return JoinRows(
      {kRecordOptions, kRunOptions, NodeRows(), SecretRows(), SamplingRows(), PushRows()});
}

Result<RunOptions> ReadRunOptions(const Arguments& arguments) {
  auto options = ReadCommon(arguments);
  if (!options) return options.error();
  const auto uplink = ReadUplink(arguments, kUsualServer);
  if (!uplink) return uplink.error();
  options->assumes_server = !arguments.Has("--server");
  if (Status names = CheckNames(*options); !names) return names.error();
  const auto allowed = ReadAllowed(arguments);
  if (!allowed) return allowed.error();
  options->allowed = *allowed;
  const auto schedule = ReadSchedule(arguments);
  if (!schedule) return schedule.error();
  options->schedule = *schedule;
  const auto grace = ReadDuration(arguments, "--grace", 1s, 1h);
  if (!grace) return grace.error();
  options->grace = *grace;
  // The first process of a launch prints it.
  options->card = arguments.Has("--card") && IsFirstOfLaunch(Variable);
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
