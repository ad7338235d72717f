// Agents that were cut off from the service, with what they sampled meanwhile, in one process: each
// is the agent's own stream and sender on a thread. Says in a line of JSON every 2 s how far they
// are, and ends when all are live again.

#include <signal.h>

#include <atomic>
#include <cstdio>
#include <iostream>
#include <list>
#include <thread>

#include "agent/frames/lifecycle.h"
#include "agent/send/sender.h"
#include "agent/send/uplink.h"
#include "bench/series.h"
#include "core/base/json.h"
#include "core/base/log.h"
#include "core/base/options.h"
#include "core/base/text.h"
#include "core/base/worker.h"
#include "core/wire/table_codec.h"

namespace stepscope {
namespace {

constexpr Option kOptions[] = {
    {"--server", "URL", "", "The service, which may be away.", true},
    {"--job", "NAME", "", "Of all of them.", true},
    {"--agents", "N", "1000", "How many."},
    {"--series", "N", "100", "Of each."},
    {"--minutes", "N", "60", "For how long the service was away."},
    {"--seconds", "N", "600", "When to give up."},
};

constexpr Duration kInterval = 500ms, kPushInterval = 2s, kGathered = 300s;
// The bound of agent/app/job/delivery.cpp.
constexpr Duration kCatchUpPause = 250ms;
constexpr Duration kLive = 10s;

struct Plan {
  std::string server, job;
  std::int64_t agents = 0, series = 0, minutes = 0, seconds = 0;
};

// Tables of ticks, the same for all agents, because their values do not matter here.
class Samples {
 public:
  explicit Samples(std::int64_t series) {
    schema_.columns = {{"at_us", ""}};
    const std::vector<Metric> metrics = SampledMetrics();
    for (std::int64_t i = 0; i < series; ++i) {
      series_.emplace_back(metrics[static_cast<std::size_t>(i) % metrics.size()], random_);
      schema_.columns.push_back({Format("user.series_{}", i), ""});
    }
    hash_ = HashSchema(schema_);
  }

  FrameContent Next(Time begin, Duration length) {
    Table table;
    table.columns.resize(schema_.columns.size());
    for (Time at = begin; at < begin + length; at += kInterval, ++table.rows) {
      table.columns[0].values.push_back(ToMicros(at));
      std::size_t column = 1;
      for (SampledSeries& each : series_) {
        table.columns[column].scale = each.scale();
        table.columns[column++].values.push_back(each.Next());
      }
    }
    return {.kind = FrameKind::kTicks,
            .payload = EncodeTable(table),
            .schema = &schema_,
            .schema_hash = hash_,
            .from_us = table.columns[0].values.front(),
            .to_us = table.columns[0].values.back(),
            .samples = table.rows * series_.size()};
  }

 private:
  std::mt19937_64 random_{1};
  std::list<SampledSeries> series_;
  Schema schema_;
  std::uint64_t hash_ = 0;
};

struct Figures {
  std::atomic<std::int64_t> pushes{0}, put_off{0};  // put_off: refused by a service that is there
};

// One agent with its backlog.
class Agent {
 public:
  Agent(const Plan& plan, std::int64_t number, Figures& figures)
      : stream_({plan.job, Format("node-{}", number)}, SpoolLimits{}, clock_),
        uplink_(std::move(*Uplink::Make({.server = plan.server}))),
        sender_(
            stream_, [this](std::string body) { return Post(std::move(body)); }, clock_),
        figures_(figures),
        first_(kPushInterval * number / plan.agents) {}

  void Start(Time at) {
    stream_.Append({.payload = StartedEvent({at, "", kInterval, {"train"}, NodeFactsPayload{}})});
  }
  void Append(const FrameContent& content) { stream_.Append(content); }

  void Run() {
    worker_ = Worker("agent", [this](std::stop_token stop) {
      Duration wait = first_;
      while (SleepFor(stop, wait)) {
        (void)stream_.Store();  // notes that the service is away
        wait = sender_.Send();
        if (wait == 0ns) wait = kCatchUpPause;
        wait = std::min<Duration>(wait, wait == Sender::kNothingWaits ? kPushInterval : 30s);
      }
    });
  }
  void Stop() {
    uplink_->Stop();
    worker_.RequestStop();
  }

  // How old the oldest sample is that the service does not have yet.
  Duration Behind(Time now) const {
    const std::int64_t from_us = stream_.figures().from_us;
    return from_us == 0 ? Duration{} : now - FromMicros(from_us);
  }
  std::uint64_t lost() const { return stream_.figures().frames_lost; }

 private:
  Result<HttpAnswer> Post(std::string body) {
    auto answer = uplink_->Post(std::move(body));
    if (answer) ++figures_.pushes;
    if (answer && answer->status != 200) ++figures_.put_off;
    return answer;
  }

  SystemClock clock_;
  FrameStream stream_;
  std::unique_ptr<Uplink> uplink_;
  Sender sender_;
  Figures& figures_;
  const Duration first_;
  Worker worker_;
};

using Agents = std::list<Agent>;

void AppendToAll(Agents& agents, const FrameContent& content) {
  for (Agent& agent : agents) agent.Append(content);
}

// Returns how many agents are live again.
std::size_t Say(const Agents& agents, const Figures& figures, Duration since) {
  const Time now = SystemClock().Now();
  std::size_t live = 0;
  Duration worst{};
  std::uint64_t lost = 0;
  for (const Agent& agent : agents) {
    const Duration behind = agent.Behind(now);
    live += behind < kLive;
    worst = std::max(worst, behind);
    lost += agent.lost();
  }
  std::cout << OrderedJson{{"seconds", since / 1s},           {"live", live},
                           {"behind_seconds", worst / 1s},    {"frames_lost", lost},
                           {"pushes", figures.pushes.load()}, {"put_off", figures.put_off.load()}}
                   .dump()
            << std::endl;
  return live;
}

// Agents go on sampling while they wait and while they catch up.
void Play(const Plan& plan, Agents& agents, Samples& samples, Time at, const Figures& figures) {
  const SteadyTime begin = SystemClock().Steady();
  const Duration limit = std::chrono::seconds(plan.seconds);
  SteadyTime next = begin;
  for (Agent& agent : agents) agent.Run();
  while (SystemClock().Steady() - begin < limit) {
    AppendToAll(agents, samples.Next(at, kPushInterval));
    at += kPushInterval;
    next += kPushInterval;
    std::this_thread::sleep_until(next - kPushInterval / 2);
    const std::size_t live = Say(agents, figures, SystemClock().Steady() - begin);
    if (live == agents.size()) break;
    std::this_thread::sleep_until(next);
  }
  for (Agent& agent : agents) agent.Stop();
}

Result<Plan> ReadPlan(const Arguments& arguments) {
  Plan plan{.server = arguments["--server"], .job = arguments["--job"]};
  const std::pair<std::string_view, std::int64_t*> numbers[] = {{"--agents", &plan.agents},
                                                                {"--series", &plan.series},
                                                                {"--minutes", &plan.minutes},
                                                                {"--seconds", &plan.seconds}};
  for (const auto& [option, place] : numbers) {
    const auto number = ParseInt(arguments[option], option);
    if (!number) return number.error();
    if (*number < 1) return Invalid(Format("{} must be 1 or more", option));
    *place = *number;
  }
  return plan;
}

int Run(const Plan& plan) {
  Figures figures;
  Agents agents;
  for (std::int64_t i = 0; i < plan.agents; ++i) agents.emplace_back(plan, i, figures);
  Samples samples(plan.series);
  const Time now = SystemClock().Now();
  const Time begin = now - std::chrono::minutes(plan.minutes);
  for (Agent& agent : agents) agent.Start(begin);
  // In frames as long as the stream makes them while the service is away.
  for (Time at = begin; at < now; at += kGathered) {
    AppendToAll(agents, samples.Next(at, std::min<Duration>(kGathered, now - at)));
  }
  Play(plan, agents, samples, now, figures);
  return 0;
}

int Main(std::span<const char* const> args) {
  signal(SIGPIPE, SIG_IGN);
  StartLog("returning", LogLevel::kError);
  const auto arguments = ParseArguments(kOptions, args);
  if (!arguments) return std::cerr << arguments.error().message << '\n', 2;
  if (arguments->help) return std::cout << OptionsHelp(kOptions), 0;
  const auto plan = ReadPlan(*arguments);
  if (!plan) return std::cerr << plan.error().message << '\n', 2;
  return Run(*plan);
}

}  // namespace
}  // namespace stepscope

int main(int argc, char** argv) {
  return stepscope::Main(
      std::span<const char* const>(argv + 1, static_cast<std::size_t>(argc - 1)));
}
