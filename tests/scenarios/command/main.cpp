// `stepscope-scenario`: fills a service with made jobs, for demonstrations, screenshots and load.

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <thread>

#include "core/base/log.h"
#include "core/base/options.h"
#include "core/model/names.h"
#include "tests/scenarios/catalog.h"
#include "tests/scenarios/command/play.h"

namespace stepscope::scenarios {
namespace {

constexpr int kFailed = 1, kWrongUse = 2, kInterrupted = 130;

constexpr std::string_view kHelp =
    R"(Sends a made job to a service, as the agents of its nodes would: steps, samples, start and end.

  stepscope-scenario NAME --server URL [options]
  stepscope-scenario --all --server URL [options]
  stepscope-scenario --list

Examples:
  stepscope-scenario slow-input --server http://127.0.0.1:8080               # seen while it runs
  stepscope-scenario communication --server http://127.0.0.1:8080 --speed 0 --job all-reduce
  stepscope-scenario healthy --server http://127.0.0.1:8080 --nodes 64 --speed 1   # load
  stepscope-scenario --all --server https://monitor:8443 --token-file agent.token

The last sample is of the moment when it is sent: a job of 7 minutes at --speed 60 takes 7 s and
begins almost 7 minutes ago. Ctrl-C ends the job as an interrupted one.
)";

constexpr Option kOptions[] = {
    {"--server", "URL", "", "the Stepscope service, such as http://127.0.0.1:8080"},
    {"--job", "NAME", "", "name of the job; the scenario's by default"},
    {"--speed", "N", "",
     "seconds of data for each second, from 1 on; 0: as fast as it goes; by default 60, with --all "
     "0"},
    {"--seed", "N", "1", "another one gives other noise"},
    {"--nodes", "N", "", "nodes of the job, in place of the scenario's"},
    {"--token-file", "FILE", "", "file with the token; without it the token is STEPSCOPE_TOKEN"},
    {"--ca-file", "FILE", "", "certificates to trust for https; the system's by default"},
    {"--insecure-http", "", "", "let the token travel in the clear to an http:// service"},
    {"--all", "", "", "every scenario, one after the other"},
    {"--list", "", "", "what there is, and what the service is to say of it"},
};

int SayWrongUse(std::string_view sentence) {
  std::fputs(Format("stepscope-scenario: {}\n", sentence).c_str(), stderr);
  return kWrongUse;
}

std::string ListText() {
  std::string text;
  for (const NamedScenario& scenario : AllScenarios()) {
    text += Format("{:<32}{}\n{:<32}", scenario.name, scenario.sentence, "");
    const Expected& expected = scenario.expected;
    text += expected.cause.empty() ? "nothing to divide" : expected.cause;
    for (std::size_t i = 0; i < expected.issues.size(); ++i) {
      text += Format("{}{}", i == 0 ? "; " : ", ", expected.issues[i]);
    }
    text += expected.note.empty() ? "\n" : Format(" ({})\n", expected.note);
  }
  return text;
}

std::string Unknown(std::span<const NamedScenario> all, std::string_view name) {
  std::vector<Option> names;
  for (const NamedScenario& scenario : all) names.push_back({scenario.name, "", "", ""});
  const Option* nearest = NearestOption(names, name);
  const std::string meant = nearest != nullptr ? Format("; did you mean '{}'?", nearest->name) : "";
  return Format("there is no scenario '{}'{} See --list", Printable(name, 60),
                meant.empty() ? "." : meant);
}

struct Order {
  std::vector<NamedScenario> scenarios;
  UplinkOptions uplink;
  std::string job;  // empty: each job has the name of its scenario
  double speed = 60;
  std::uint64_t seed = 1;
  std::optional<std::size_t> nodes;
};

Result<std::int64_t> Number(const Arguments& arguments, std::string_view option, std::int64_t least,
                            std::int64_t most) {
  const auto number = ParseInt(arguments[option], option);
  if (!number) return number.error();
  if (*number >= least && *number <= most) return *number;
  return Invalid(Format("{} {}: must be {} to {}", option, *number, least, most));
}

Result<std::vector<NamedScenario>> Chosen(const Arguments& arguments) {
  const std::vector<NamedScenario> all = AllScenarios();
  if (arguments.Has("--all")) {
    if (!arguments.rest.empty()) return Invalid("--all and a name: give one of them");
    if (arguments.Has("--job")) return Invalid("--job: with --all each job has its own name");
    return all;
  }
  if (arguments.rest.size() != 1) return Invalid("give one NAME; --list shows what there is");
  const NamedScenario* found = FindScenario(all, arguments.rest[0]);
  if (found == nullptr) return Invalid(Unknown(all, arguments.rest[0]));
  return std::vector{*found};
}

Result<Order> ReadOrder(const Arguments& arguments) {
  Order order;
  auto chosen = Chosen(arguments);
  if (!chosen) return chosen.error();
  order.scenarios = std::move(*chosen);
  if (!arguments.Has("--server")) return Invalid("--server: where the service is, is missing");
  order.job = arguments["--job"];
  if (Status name = order.job.empty() ? Status() : CheckJobName(order.job); !name) {
    return Invalid("--job: " + name.error().message);
  }
  order.speed = arguments.Has("--all") ? 0 : 60;
  if (arguments.Has("--speed")) {
    const auto speed = Number(arguments, "--speed", 0, 100'000);
    if (!speed) return speed.error();
    order.speed = static_cast<double>(*speed);
  }
  const auto seed = Number(arguments, "--seed", 0, INT64_MAX);
  if (!seed) return seed.error();
  order.seed = static_cast<std::uint64_t>(*seed);
  if (arguments.Has("--nodes")) {
    const auto nodes = Number(arguments, "--nodes", 1, 1'000);
    if (!nodes) return nodes.error();
    order.nodes = static_cast<std::size_t>(*nodes);
  }
  const char* token = std::getenv("STEPSCOPE_TOKEN");
  order.uplink = {.server = arguments["--server"],
                  .ca_file = arguments["--ca-file"],
                  .token_file = arguments["--token-file"],
                  .token = token != nullptr ? token : "",
                  .insecure_http = arguments.Has("--insecure-http")};
  return order;
}

// The first Ctrl-C requests the end; a second one ends the program at once.
std::jthread WatchSignals(std::stop_source& stop) {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM}) sigaddset(&signals, signal);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  signal(SIGPIPE, SIG_IGN);
  return std::jthread([&stop, signals](const std::stop_token& done) {
    const timespec wait{0, 100'000'000};
    while (!done.stop_requested()) {
      if (sigtimedwait(&signals, nullptr, &wait) < 0) continue;
      if (stop.stop_requested()) std::_Exit(kInterrupted);
      stop.request_stop();
    }
  });
}

int PlayAll(const Order& order, Uplink& uplink, const std::stop_token& stop) {
  for (const NamedScenario& scenario : order.scenarios) {
    Training training = scenario.make();
    training.seed = order.seed;
    training.nodes = order.nodes.value_or(training.nodes);
    const std::string job = order.job.empty() ? std::string(scenario.name) : order.job;
    LogInfo("{}: {}", job, scenario.sentence);
    const Status played = Play(training, {job, order.speed}, uplink, stop);
    if (!played) {
      LogError("{}: {}", job, played.error().message);
      return stop.stop_requested() ? kInterrupted : kFailed;
    }
    std::fputs((uplink.PageOf(job) + "\n").c_str(), stdout);
    std::fflush(stdout);
  }
  return 0;
}

int Main(std::span<const char* const> words) {
  const auto arguments = ParseArguments(kOptions, words, true);
  if (!arguments) return SayWrongUse(arguments.error().message);
  if (arguments->help) {
    std::fputs(Format("{}\nOptions:\n{}", kHelp, OptionsHelp(kOptions)).c_str(), stdout);
    return 0;
  }
  if (arguments->Has("--list")) return std::fputs(ListText().c_str(), stdout), 0;
  const auto order = ReadOrder(*arguments);
  if (!order) return SayWrongUse(order.error().message);
  const auto uplink = Uplink::Make(order->uplink);
  if (!uplink) return SayWrongUse(uplink.error().message);
  StartLog("stepscope-scenario", LogLevel::kInfo);
  std::stop_source stop;
  const std::jthread signals = WatchSignals(stop);
  if (const Status there = CheckService(**uplink, order->uplink.server); !there) {
    return LogError("{}", there.error().message), kFailed;
  }
  return PlayAll(*order, **uplink, stop.get_token());
}

}  // namespace
}  // namespace stepscope::scenarios

int main(int count, char** words) {
  return stepscope::scenarios::Main({words + 1, static_cast<std::size_t>(count - 1)});
}
