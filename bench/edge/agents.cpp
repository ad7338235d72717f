// Many agents in one thread: each pushes frames at its interval over one kept connection. Says in
// JSON how many were answered, and how long after they were due.

#include <signal.h>
#include <sys/epoll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <fstream>
#include <queue>

#include "bench/edge/agent.h"
#include "core/base/json.h"
#include "core/base/options.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Option kOptions[] = {
    {"--port", "N", "", "Port of the service on 127.0.0.1.", true},
    {"--frames", "FILE", "", "Pushes as make_frames writes them.", true},
    {"--path", "PATH", "/api/v1/ingest/frames", "Where to push."},
    {"--type", "TYPE", "application/vnd.stepscope.frames", "Content-Type of a push."},
    {"--token-file", "FILE", "", "Holds the token that the agents show."},
    {"--every-ms", "N", "1000", "Time between two pushes of an agent."},
    {"--agents-per-address", "N", "50", "How many agents share a source address."},
    {"--seconds", "N", "30", "When to give up."},
};

struct Load {
  LoadTarget target;
  LoadFigures figures;
  std::vector<LoadAgent> agents;
  Duration limit = 30s;
};

volatile sig_atomic_t stopped = 0;

SteadyTime Now() {
  return std::chrono::steady_clock::now();
}

bool ReadPushes(const std::string& path, Load& load) {
  std::ifstream in(path, std::ios::binary);
  std::array<std::uint32_t, 2> head{};
  while (in.read(reinterpret_cast<char*>(head.data()), sizeof head)) {
    std::string body(head[1], '\0');
    if (!in.read(body.data(), static_cast<std::streamsize>(body.size()))) return false;
    while (load.agents.size() <= head[0]) {
      load.agents.emplace_back(static_cast<std::int64_t>(load.agents.size()), load.target,
                               load.figures);
    }
    load.agents[head[0]].Add(std::move(body));
    ++load.figures.due;
  }
  return !load.agents.empty();
}

// Calls each agent when its time has come or its socket is ready.
class Loop {
 public:
  explicit Loop(Load& load)
      : load_(load),
        epoll_(epoll_create1(EPOLL_CLOEXEC)),
        planned_(load.agents.size()),
        watched_(load.agents.size(), {-1, 0}) {
    const SteadyTime begin = Now() + 100ms;
    const auto count = static_cast<std::int64_t>(load.agents.size());
    for (std::int64_t i = 0; i < count; ++i) {  // spread over one interval, as in life
      load.agents[static_cast<std::size_t>(i)].Begin(begin + load.target.every * i / count);
      Plan(static_cast<std::size_t>(i));
    }
  }

  void Run() {
    const SteadyTime end = Now() + load_.limit;
    std::array<epoll_event, 256> events;
    while (!stopped && Now() < end && done_ < load_.agents.size()) {
      const SteadyTime next = wakes_.empty() ? end : std::min(end, wakes_.top().first);
      const Duration wait = std::max<Duration>(next - Now(), 0ns);
      const timespec time{std::chrono::duration_cast<std::chrono::seconds>(wait).count(),
                          (wait % 1s).count()};
      const int count = epoll_pwait2(epoll_.get(), events.data(), events.size(), &time, nullptr);
      for (int i = 0; i < count; ++i) Step(events[static_cast<std::size_t>(i)].data.u64);
      while (!wakes_.empty() && wakes_.top().first <= Now()) {
        const std::size_t number = wakes_.top().second;
        wakes_.pop();
        Step(number);
      }
    }
  }

 private:
  void Step(std::size_t number) {
    LoadAgent& agent = load_.agents[number];
    const bool was_done = agent.done();
    agent.Step(Now());
    if (agent.done() && !was_done) ++done_;
    if (!agent.done() && agent.idle()) Plan(number);
    Watch(number);
  }

  void Plan(std::size_t number) {
    const SteadyTime wake = load_.agents[number].wake();
    if (planned_[number] == wake) return;
    planned_[number] = wake;
    wakes_.emplace(wake, number);
  }

  // Keeps the kernel's list in step with the agent's socket; a closed one leaves it by itself.
  void Watch(std::size_t number) {
    const LoadAgent& agent = load_.agents[number];
    const std::uint32_t wanted = EPOLLIN | (agent.wants_to_write() ? EPOLLOUT : 0U);
    const std::pair<int, std::uint32_t> now{agent.socket(), wanted};
    const std::pair<int, std::uint32_t> before = std::exchange(watched_[number], now);
    if (now.first < 0 || now == before) return;
    epoll_event event{};
    event.events = wanted;
    event.data.u64 = number;
    const int change = now.first == before.first ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
    epoll_ctl(epoll_.get(), change, now.first, &event);
  }

  Load& load_;
  Descriptor epoll_;
  std::vector<SteadyTime> planned_;
  std::vector<std::pair<int, std::uint32_t>> watched_;
  std::priority_queue<std::pair<SteadyTime, std::size_t>,
                      std::vector<std::pair<SteadyTime, std::size_t>>, std::greater<>>
      wakes_;
  std::size_t done_ = 0;
};

double Milliseconds(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size() - 1));
  return static_cast<double>(sorted[at]) / 1e3;
}

double CpuSeconds() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(used.ru_utime) + seconds(used.ru_stime);
}

OrderedJson Report(Load& load) {
  LoadFigures& figures = load.figures;
  std::ranges::sort(figures.latencies_us);
  std::int64_t starved = 0, never = 0, acknowledged = 0;
  for (const LoadAgent& agent : load.agents) {
    starved += agent.served() < agent.pushes();
    never += agent.served() == 0;
  }
  for (const auto& [agent, last] : figures.last) acknowledged += last;
  const auto in_time = std::ranges::upper_bound(figures.latencies_us, load.target.every / 1us) -
                       figures.latencies_us.begin();
  OrderedJson other = OrderedJson::object();
  for (const auto& [status, count] : figures.other) other[std::to_string(status)] = count;
  return {{"agents", load.agents.size()},
          {"due", figures.due},
          {"answered", figures.answered},
          {"answered_within_an_interval", in_time},
          {"starved_agents", starved},
          {"never_served_agents", never},
          {"acknowledged_frames", acknowledged},
          {"busy", figures.busy},
          {"broken", figures.broken},
          {"connects", figures.connects},
          {"other", other},
          {"first_other", figures.first_other},
          {"p50_ms", Milliseconds(figures.latencies_us, 0.5)},
          {"p99_ms", Milliseconds(figures.latencies_us, 0.99)},
          {"max_ms", Milliseconds(figures.latencies_us, 1)},
          {"cut_at_us", figures.cut_at_us},
          {"own_cpu_seconds", CpuSeconds()}};
}

std::string FirstLine(const std::string& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

Status ReadLoad(const Arguments& arguments, Load& load) {
  std::int64_t every_ms = 0, seconds = 0, port = 0;
  const std::pair<std::string_view, std::int64_t*> numbers[] = {
      {"--port", &port},
      {"--every-ms", &every_ms},
      {"--seconds", &seconds},
      {"--agents-per-address", &load.target.agents_per_address}};
  for (const auto& [option, place] : numbers) {
    const Result<std::int64_t> number = ParseInt(arguments[option], option);
    if (!number) return number.error();
    if (*number <= 0) return Invalid(Format("{}: must be positive", option));
    *place = *number;
  }
  load.target.port = static_cast<int>(port);
  load.target.path = arguments["--path"];
  load.target.type = arguments["--type"];
  if (arguments.Has("--token-file")) load.target.token = FirstLine(arguments["--token-file"]);
  load.target.every = std::chrono::milliseconds(every_ms);
  load.limit = std::chrono::seconds(seconds);
  if (ReadPushes(arguments["--frames"], load)) return {};
  return Invalid(Format("--frames {}: cannot be read", arguments["--frames"]));
}

int Main(std::span<const char* const> args) {
  const Result<Arguments> arguments = ParseArguments(kOptions, args);
  if (arguments && arguments->help) {
    std::fputs(OptionsHelp(kOptions).c_str(), stdout);
    return 0;
  }
  Load load;
  const Status read = arguments ? ReadLoad(*arguments, load) : Status(arguments.error());
  if (!read) {
    std::fprintf(stderr, "agents: %s\n", read.error().message.c_str());
    return 2;
  }
  signal(SIGTERM, [](int) { stopped = 1; });
  Loop(load).Run();
  std::puts(Dump(Report(load)).c_str());
  return 0;
}

}  // namespace
}  // namespace stepscope

int main(int count, char** words) {
  return stepscope::Main({words + 1, static_cast<std::size_t>(count - 1)});
}
