#include "agent/app/run_options.h"

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <initializer_list>

#include "agent/launch/launcher.h"
#include "core/base/text.h"
#include "core/http/url.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

constexpr Option kOptions[] = {
    {"--server", "URL", "", "the Stepscope service, such as http://127.0.0.1:8080", true},
    {"--job", "NAME", "",
     "name of the training run: letters, digits and '-'; by default STEPSCOPE_JOB, or what the "
     "launcher says",
     false},
    {"--group", "NAME", "",
     "what the job is listed under; by default STEPSCOPE_GROUP, or what the launcher says", false},
    {"--node", "NAME", "",
     "name of this machine; by default STEPSCOPE_NODE, what the launcher says, or the host name",
     false},
    {"--interval", "TIME", "500ms", "time between two samples, 100ms to 60s", false},
    {"--push", "TIME", "2s", "time between two pushes to the service, 1s to 60s", false},
    {"--socket", "PATH", "", "where training processes find the agent; one of the job by default",
     false},
    {"--root", "DIR", "", "read /proc and /sys of the machine below this folder", false},
    {"--no-output", "", "", "do not send the last lines of standard error with the job's end",
     false},
    {"--ca-file", "FILE", "",
     "certificates to trust for https; also from STEPSCOPE_CA_FILE; the system's by default",
     false},
    {"--token-file", "FILE", "",
     "file with the token for the service, read again when it is replaced; without it the token is "
     "STEPSCOPE_TOKEN",
     false},
    {"--cert", "FILE", "", "certificate that shows the service who this node is", false},
    {"--key", "FILE", "", "its private key", false},
    {"--insecure-http", "", "", "let the token travel in the clear to an http:// service", false},
    {"--log-level", "LEVEL", "info", "debug, info, warning or error", false},
};

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const std::string text = std::string(name).substr(0, 63);
  return CheckLabel("node", text) ? text : "node";
}

Result<Duration> ReadDuration(const Arguments& arguments, std::string_view name, Duration least,
                              Duration most) {
  const auto value = ParseDuration(arguments[name]);
  if (!value) return Invalid(Format("{}: {}", name, value.error().message));
  if (*value >= least && *value <= most) return *value;
  return Invalid(Format("{} {}: must be {} to {}", name, Printable(arguments[name], 40),
                        ToText(least), ToText(most)));
}

std::string Variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value != nullptr ? value : "";
}

UplinkOptions ReadUplink(const Arguments& arguments) {
  const std::string ca_file = arguments["--ca-file"];
  return {.server = arguments["--server"],
          .ca_file = ca_file.empty() ? Variable("STEPSCOPE_CA_FILE") : ca_file,
          .cert_file = arguments["--cert"],
          .key_file = arguments["--key"],
          .token_file = arguments["--token-file"],
          .token = Variable(kTokenVariable),
          .insecure_http = arguments.Has("--insecure-http")};
}

std::string FirstGiven(std::initializer_list<std::string> values) {
  const auto given = std::ranges::find_if_not(values, &std::string::empty);
  return given == values.end() ? "" : *given;
}

// A group without the job's name would be that of another launch.
void TakeNames(const Arguments& arguments, RunOptions& options) {
  const LaunchNames launch = NamesOfLaunch(Variable);
  options.job = FirstGiven({arguments["--job"], Variable("STEPSCOPE_JOB")});
  if (options.job.empty()) options.named_by = launch.launcher;
  const bool named = !options.named_by.empty();
  if (named) options.job = launch.job;
  options.group =
      FirstGiven({arguments["--group"], Variable("STEPSCOPE_GROUP"), named ? launch.group : ""});
  options.node =
      FirstGiven({arguments["--node"], Variable("STEPSCOPE_NODE"), launch.node, HostName()});
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

}  // namespace

std::span<const Option> RunOptionTable() {
  return kOptions;
}

Result<RunOptions> ReadRunOptions(const Arguments& arguments) {
  RunOptions options{.socket = arguments["--socket"],
                     .root = arguments["--root"],
                     .travelling_output = !arguments.Has("--no-output"),
                     .uplink = ReadUplink(arguments),
                     .command = arguments.rest};
  TakeNames(arguments, options);
  if (auto url = ParseUrl(options.uplink.server); !url) {
    return Invalid("--server: " + url.error().message);
  }
  if (Status names = CheckNames(options); !names) return names.error();
  const auto interval = ReadDuration(arguments, "--interval", 100ms, 60s);
  if (!interval) return interval.error();
  const auto push = ReadDuration(arguments, "--push", 1s, 60s);
  if (!push) return push.error();
  const auto level = ParseLogLevel(arguments["--log-level"]);
  if (!level) return level.error();
  options.interval = *interval;
  options.push = *push;
  options.log_level = *level;
  if (options.command.empty() || options.command[0].empty()) {
    return Invalid("the command to run is missing: put it behind '--'");
  }
  return options;
}

}  // namespace stepscope
