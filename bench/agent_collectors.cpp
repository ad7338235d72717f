// The cost of a tick for the agent, by collector: on this machine, and on trees of files as a node
// with 192 cores has them (their parsing, without what the kernel does to write such a text).
//
//     build/release/bench/agent_collectors [--alone]
//
// Nanoseconds of CPU time of the sampling thread, the mean over ticks of 500 ms so that sources
// that are read seldom count by their share; the least of some rounds. A tick comes right after the
// other;
// --alone lets each wait until the caches are cold, as they are twice a second.

#include <sys/prctl.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstring>
#include <functional>
#include <thread>

#include "agent/collect/collector.h"
#include "agent/host/process.h"
#include "core/base/cpu_time.h"
#include "tests/support/large_node.h"

namespace stepscope {
namespace {

constexpr Duration kInterval = 500ms;
constexpr Duration kCold = 20ms;
constexpr int kCores = 192;
constexpr int kRanks = 8, kLoaders = 8;
constexpr int kRounds = 7;
constexpr int kTicks = 60;  // a multiple of all intervals of collectors

// Moves the counters of a tree of files.
using Advance = std::function<void(int tick)>;

// The least of some rounds, because other programs only add.
double TickNanos(Collector& collector, TickRow& row, const Advance& advance, bool alone) {
  SteadyTime now{1h};
  Duration least = Duration::max();
  for (int round = 0; round < (alone ? 1 : kRounds); ++round) {
    Duration used{};
    for (int tick = 0; tick < kTicks; ++tick) {
      advance(tick);
      if (alone) std::this_thread::sleep_for(kCold);
      row.Clear();
      const Duration began = ThreadCpuTime();
      if (!collector.Collect(now += kInterval, row)) return 0;
      used += ThreadCpuTime() - began;
    }
    least = std::min(least, used);
  }
  return static_cast<double>(least / 1ns) / kTicks;
}

struct Cost {
  double nanos = 0;
  std::size_t series = 0;
};

// 8 ranks with 8 loaders each, all asleep, until the end of this program.
std::vector<TrainingProcess> StartRanks() {
  std::vector<TrainingProcess> ranks;
  int ready[2];
  if (pipe(ready) != 0) return ranks;
  for (int rank = 0; rank < kRanks; ++rank) {
    const pid_t pid = fork();
    if (pid > 0) ranks.push_back({"rank" + std::to_string(rank), pid});
    if (pid != 0) continue;
    for (int loader = 0; loader < kLoaders && fork() != 0; ++loader) {
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "pt_data_worker");
    for (bool told = write(ready[1], "r", 1) == 1; told;) pause();
    _exit(1);
  }
  char byte = 0;
  for (int i = 0; i < kRanks * (kLoaders + 1); ++i) {
    if (read(ready[0], &byte, 1) != 1) break;
  }
  return ranks;
}

Cost CostOfRanks(bool alone) {
  TickRow row;
  const auto ranks = StartRanks();
  const auto collector = MakeProcessCollector("", [&](auto& training) { training = ranks; });
  const double nanos = TickNanos(
      *collector, row, [](int) {}, alone);
  for (const TrainingProcess& rank : ranks) kill(static_cast<pid_t>(rank.pid), SIGKILL);
  return {nanos, row.size()};
}

Cost CostOf(const CollectorKind& kind, const std::string& root, const Advance& advance,
            bool alone) {
  TickRow row;
  auto collector = kind.make(root, row);
  if (!collector) return {};
  const double nanos = TickNanos(**collector, row, advance, alone);
  return {nanos, row.size()};
}

void Compare(bool alone) {
  const test::FakeRoot large;
  test::WriteLargeNode(large, kCores);
  const auto advance = [&](int tick) { test::WriteLargeTexts(large, kCores, tick); };
  std::printf("%-12s %12s %8s %12s %8s\n", "collector", "here, ns", "series", "192 cores",
              "series");
  Cost here, there;
  for (const CollectorKind& kind : CollectorTable()) {
    const Cost one = CostOf(
        kind, "", [](int) {}, alone);
    const Cost other = CostOf(kind, large.path(), advance, alone);
    std::printf("%-12s %12.0f %8zu %12.0f %8zu\n", std::string(kind.name).c_str(), one.nanos,
                one.series, other.nanos, other.series);
    here = {here.nanos + one.nanos, here.series + one.series};
    there = {there.nanos + other.nanos, there.series + other.series};
  }
  std::printf("%-12s %12.0f %8zu %12.0f %8zu\n", "all", here.nanos, here.series, there.nanos,
              there.series);
  const Cost ranks = CostOfRanks(alone);
  std::printf("%-12s %12.0f %8zu   (8 ranks with 8 loaders each)\n", "process", ranks.nanos,
              ranks.series);
}

}  // namespace
}  // namespace stepscope

int main(int argc, char** argv) {
  stepscope::Compare(argc > 1 && std::strcmp(argv[1], "--alone") == 0);
}
