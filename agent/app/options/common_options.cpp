#include "agent/app/options/common_options.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <optional>

#include "core/base/text.h"
#include "core/http/url.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostSteps = 8,
                       kMostStep = 9'007'199'254'740'992;  // a schedule may have these

constexpr Option kUplink[] = {
    {"--server", "URL", "", "the Stepscope service, such as http://127.0.0.1:8080", true},
    {"--ca-file", "FILE", "", "certificates to trust for https; the system's by default"},
    {"--token-file", "FILE", "",
     "file with the token for the service, read again when it is replaced; without it the token is "
     "STEPSCOPE_TOKEN"},
    {"--cert", "FILE", "", "certificate that shows the service who this node is"},
    {"--key", "FILE", "", "its private key"},
    {"--insecure-http", "", "", "let the token travel in the clear to an http:// service"},
};

constexpr Option kSampling[] = {
    {"--interval", "TIME", "500ms", "time between two samples, 100ms to 60s"},
    {"--budget", "PERCENT", "0.06",
     "CPU time that reading all sources may take, in % of a core: above it they are read less "
     "often; 0.001 to 100"},
    {"--root", "DIR", "", "read /proc and /sys of the machine below this folder"},
};

constexpr Option kPush[] = {
    {"--push", "TIME", "2s", "time between two pushes to the service, 1s to 60s"},
    {"--windows", "WHAT", "ask",
     "ask: PyTorch records the operators and kernels of a few steps when somebody asks for them; "
     "auto: when the service finds it useful, too, for at most 0.3 % of the job's time; "
     "off: it never does"},
    {"--start-step", "STEP", "",
     "each rank records the operators and kernels of --num-steps steps from this one on; steps "
     "count from 0"},
    {"--num-steps", "N", "5", "how many steps that are, 1 to 8"},
    {"--allow", "WHAT", "interval,spans,window",
     "what the service may ask of this agent while it runs: interval, spans (of annotations, in "
     "steps that somebody asked for), window (of operators: see --windows), stop (ends the "
     "command), several with commas, or "
     "none"},
};

constexpr Option kSecrets[] = {
    {"--no-command", "", "", "do not send the words of the command line"},
    {"--hide", "NAME", "",
     "further part of a name, such as licence, whose value on the command line and in the last "
     "lines of errors is secret; may be given several times",
     false, OptionSource::kAnywhere, true},
};

constexpr Option kNode[] = {
    {"--node", "NAME", "",
     "name of this machine; by default what the launcher says, or the host name"},
};

constexpr Option kEvery[] = {
    {"--config", "FILE", "/etc/stepscope/agent.toml",
     "file with options; the default one need not be there", false, OptionSource::kVariable},
    {"--log-level", "LEVEL", "info", "debug, info, warning or error"},
};

}  // namespace

std::span<const Option> UplinkRows() {
  return kUplink;
}

std::span<const Option> SamplingRows() {
  return kSampling;
}

std::span<const Option> PushRows() {
  return kPush;
}

std::span<const Option> SecretRows() {
  return kSecrets;
}

std::span<const Option> NodeRows() {
  return kNode;
}

std::span<const Option> EveryRows() {
  return kEvery;
}

std::vector<Option> JoinRows(std::initializer_list<std::span<const Option>> groups) {
  std::vector<Option> table;
  for (const auto& group : groups) table.insert(table.end(), group.begin(), group.end());
  return table;
}

std::string Variable(std::string_view name) {
  const char* value = std::getenv(std::string(name).c_str());
  return value != nullptr ? value : "";
}

Result<UplinkOptions> ReadUplink(const Arguments& arguments, const std::string& server) {
  const std::string url_text = arguments.Has("--server") ? arguments["--server"] : server;
  if (auto url = ParseUrl(url_text); !url) {
    return Invalid(Format("{}: {}", arguments.NameOf("--server"), url.error().message));
  }
  return UplinkOptions{.server = url_text,
                       .ca_file = arguments["--ca-file"],
                       .cert_file = arguments["--cert"],
                       .key_file = arguments["--key"],
                       .token_file = arguments["--token-file"],
                       .token = Variable(kTokenVariable),
                       .insecure_http = arguments.Has("--insecure-http")};
}

Result<Duration> ReadDuration(const Arguments& arguments, std::string_view name, Duration least,
                              Duration most) {
  const auto value = ParseDuration(arguments[name]);
  if (!value) return Invalid(Format("{}: {}", arguments.NameOf(name), value.error().message));
  if (*value >= least && *value <= most) return *value;
  return Invalid(Format("{} {}: must be {} to {}", arguments.NameOf(name),
                        Printable(arguments[name], 40), ToText(least), ToText(most)));
}

Result<SamplingOptions> ReadSampling(const Arguments& arguments) {
  const auto interval = ReadDuration(arguments, "--interval", 100ms, 60s);
  if (!interval) return interval.error();
  const std::string& budget = arguments["--budget"];
  std::optional<double> percent = 0;
  const auto [end, fault] = std::from_chars(budget.data(), budget.data() + budget.size(), *percent);
  if (fault != std::errc() || end != budget.data() + budget.size()) percent.reset();
  if (!percent || !(*percent >= 0.001 && *percent <= 100)) {
    return Invalid(Format("{} {}: must be 0.001 to 100, in % of a core",
                          arguments.NameOf("--budget"), Printable(budget, 40)));
  }
  return SamplingOptions{
      .interval = *interval, .root = arguments["--root"], .core_share = *percent / 100};
}

Result<Duration> ReadPush(const Arguments& arguments) {
  return ReadDuration(arguments, "--push", 1s, 60s);
}

Result<SecretOptions> ReadSecrets(const Arguments& arguments) {
  const std::vector<std::string>& names = arguments.All("--hide");
  if (std::ranges::any_of(names, &std::string::empty))
    return Invalid(Format("{}: a name is empty", arguments.NameOf("--hide")));
  return SecretOptions{.sends_command = !arguments.Has("--no-command"), .more_names = names};
}

Result<Allowed> ReadAllowed(const Arguments& arguments) {
  const std::string& windows = arguments["--windows"];
  if (windows != "auto" && windows != "ask" && windows != "off") {
    return Invalid(Format("{}: '{}' is not auto, ask or off", arguments.NameOf("--windows"),
                          Printable(windows, 40)));
  }
  auto allowed = ParseAllowed(arguments["--allow"]);
  if (allowed) {
    allowed->window = allowed->window && windows != "off";
    allowed->automatic = allowed->window && allowed->spans && windows == "auto";
  }
  if (allowed) return *allowed;
  return Invalid(Format("{}: {}", arguments.NameOf("--allow"), allowed.error().message));
}

Result<WindowSchedule> ReadSchedule(const Arguments& arguments) {
  WindowSchedule schedule;
  const auto read = [&](std::string_view name, std::int64_t least, std::int64_t most,
                        std::int64_t& into) -> Status {
    const std::string& text = arguments[std::string(name)];
    const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), into);
    const bool whole = fault == std::errc() && end == text.data() + text.size();
    if (whole && into >= least && into <= most) return {};
    return Invalid(Format("{} {}: must be {} to {}", arguments.NameOf(name), Printable(text, 40),
                          least, most));
  };
  if (const Status steps = read("--num-steps", 1, kMostSteps, schedule.num_steps); !steps) {
    return steps.error();
  }
  if (!arguments.Has("--start-step")) return schedule;
  schedule.start_step = 0;
  const Status first = read("--start-step", 0, kMostStep, *schedule.start_step);
  if (!first) return first.error();
  if (arguments["--windows"] == "off") {
    return Invalid(Format("{}: contradicts --windows off", arguments.NameOf("--start-step")));
  }
  return schedule;
}

std::string ToRequest(const WindowSchedule& schedule) {
  if (!schedule.start_step) return "";
  return Format("window {} steps from step {} for window 0", schedule.num_steps,
                *schedule.start_step);
}

std::string HostName() {
  char name[256] = {};
  gethostname(name, sizeof name - 1);
  const std::string text = std::string(name).substr(0, 63);
  return CheckLabel("node", text) ? text : "node";
}

std::string ReadNode(const Arguments& arguments, const std::string& launcher_says) {
  if (arguments.Has("--node")) return arguments["--node"];
  return launcher_says.empty() ? HostName() : launcher_says;
}

Result<LogLevel> ReadLog(const Arguments& arguments) {
  auto level = ParseLogLevel(arguments["--log-level"]);
  if (level) return *level;
  return Invalid(Format("{}: {}", arguments.NameOf("--log-level"), level.error().message));
}

}  // namespace stepscope
