#include "agent/sample/sampler.h"

#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>
#include <thread>

#include "agent/collect/collector.h"
#include "agent/collect/tick_row.h"
#include "agent/gpu/nvml_library.h"
#include "core/base/clock.h"
#include "core/base/cpu_time.h"
#include "core/model/metric.h"
#include "core/wire/frame.h"
#include "tests/agent/gpu/gpu_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeClock;
using test::FakeRoot;

void WriteNode(const FakeRoot& root, int ticks) {
  root.Write("/proc/stat", "cpu  " + std::to_string(ticks) + " 0 0 100\n");
  root.Write("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 40 kB\n");
  root.Write("/proc/loadavg", "1.50 1 1 1/1 1\n");
}

// Every source is read at each tick, however slow the machine is.
constexpr double kAnyCost = 1;

TEST(Sampler, HasRatesFromItsFirstTick) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root, 0);
  Sampler sampler(root.path(), clock);
  root.Write("/proc/stat", "cpu  50 0 0 150\n");
  clock.Advance(500ms);
  EXPECT_DOUBLE_EQ(sampler.Sample().At("node_cpu_percent"), 50);
}

TEST(Sampler, SaysWhichSourcesTheNodeDoesNotHave) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root, 0);
  const Sampler sampler(root.path(), clock);
  std::vector<std::string> absent;
  for (const AbsentSource& one : sampler.Absent()) absent.push_back(one.source);
  std::erase(absent, "gpu");  // the machine of this test may have one
  EXPECT_EQ(absent, (std::vector<std::string>{"frequency", "faults", "pressure", "disk", "nfs",
                                              "network", "tcp", "cgroup", "rdma"}));
  EXPECT_NE(sampler.Absent()[2].reason.find("/proc/pressure/cpu"), std::string::npos);
}

TEST(Sampler, GoesOnWithTheOthersWhenOneFails) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root, 0);
  Sampler sampler(root.path(), clock, kAnyCost);
  root.Write("/proc/meminfo", "garbage");
  const TickRow& row = sampler.Sample();
  EXPECT_TRUE(std::isnan(row.At("memory_used_percent")));
  EXPECT_DOUBLE_EQ(row.At("load_1m"), 1.5);
  WriteNode(root, 10);
  EXPECT_DOUBLE_EQ(sampler.Sample().At("memory_used_percent"), 60);
}

std::string ReasonOf(const Sampler& sampler, std::string_view source) {
  for (AbsentSource& one : sampler.Absent()) {
    if (one.source == source) return std::move(one.reason);
  }
  return "";
}

TEST(Sampler, SaysWhySourcesFailForAsLongAsTheyDo) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root, 0);
  Sampler sampler(root.path(), clock, kAnyCost);
  root.Write("/proc/meminfo", "garbage");
  sampler.Sample();
  EXPECT_EQ(ReasonOf(sampler, "memory"), "") << "it may be over at once";
  clock.Advance(6s);
  sampler.Sample();
  EXPECT_EQ(ReasonOf(sampler, "memory"), "/proc/meminfo: no MemTotal");
  EXPECT_EQ(ReasonOf(sampler, "cpu"), "");
  WriteNode(root, 10);
  sampler.Sample();
  EXPECT_EQ(ReasonOf(sampler, "memory"), "");
}

// Ticks until the source has a value; the attempt to open it is made on another thread.
double Await(Sampler& sampler, FakeClock& clock, std::string_view metric, std::string_view device) {
  const SteadyTime until = SystemClock().Steady() + 1min;
  double value = NAN;
  while (std::isnan(value) && SystemClock().Steady() < until) {
    clock.Advance(500ms);
    value = sampler.Sample().At(metric, device);
    std::this_thread::yield();
  }
  return value;
}

// Takes so much CPU time, at each `every`th reading, and counts its readings.
struct Spender : Collector {
  Spender(Duration cpu, int every, int& counted) : spends(cpu), nth(every), readings(counted) {}
  Status Collect(SteadyTime, TickRow&) override {
    const Duration until = ThreadCpuTime() + (readings++ % nth == 0 ? spends : 0ns);
    while (ThreadCpuTime() < until) continue;
    return {};
  }
  Duration spends;
  int nth;
  int& readings;
};

int ReadingsInAMinute(Duration cpu, int every, double core_share, std::string& slowed) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root, 0);
  Sampler sampler(root.path(), clock, core_share);
  int readings = 0;
  sampler.AddPlanned("process", std::make_unique<Spender>(cpu, every, readings));
  for (int tick = 0; tick < 120; ++tick) {
    clock.Advance(500ms);
    sampler.Sample();
  }
  for (const SlowedReading& one : sampler.Slowed()) slowed += one.name;
  return readings;
}

TEST(Sampler, ReadsADearCollectorOfACommandMoreSeldom) {
  std::string slowed;
  EXPECT_LT(ReadingsInAMinute(5ms, 1, 0.001, slowed), 40);
  EXPECT_NE(slowed.find("process"), std::string::npos);
}

TEST(Sampler, JudgesACollectorThatPacesItselfByItsMean) {
  std::string slowed;
  EXPECT_EQ(ReadingsInAMinute(2ms, 4, 0.002, slowed), 120) << slowed;
}

TEST(Sampler, FindsADriverThatIsLoadedLater) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root, 0);
  root.Write(std::string("/usr/lib/") + kNvmlName, "no library");  // hides this machine's library
  Sampler sampler(root.path(), clock);
  EXPECT_NE(ReasonOf(sampler, "gpu"), "");
  EXPECT_EQ(ReasonOf(sampler, "rdma"), "/sys/class/infiniband: no port");
  root.Write("/sys/class/infiniband/mlx5_0/ports/1/rate", "400 Gb/sec (4X NDR)\n");
  root.MakeFolder("/usr/lib64");
  std::filesystem::create_symlink(test::FakeNvmlFile(), root.path() + "/usr/lib64/" + kNvmlName);
  test::ScriptOf(test::FakeNvmlFile()).count = 2;
  clock.Advance(59s);
  sampler.Sample();
  EXPECT_TRUE(sampler.Gpus().empty()) << "once a minute";
  EXPECT_DOUBLE_EQ(Await(sampler, clock, "gpu_util_percent", "gpu1"), 97);
  EXPECT_DOUBLE_EQ(Await(sampler, clock, "rdma_link_bytes_per_second", "mlx5_0:1"), 50e9);
  EXPECT_EQ(sampler.Gpus().size(), 2u);
  EXPECT_EQ(ReasonOf(sampler, "gpu"), "");
  EXPECT_EQ(ReasonOf(sampler, "rdma"), "");
}

TEST(Sampler, SaysTheNewestReasonWhyADriverIsMissing) {
  FakeRoot root;
  FakeClock clock;
  root.Write(std::string("/usr/lib/") + kNvmlName, "no library");
  Sampler sampler(root.path(), clock);
  const std::string before = ReasonOf(sampler, "gpu");
  root.MakeFolder("/usr/lib64");
  std::filesystem::create_symlink(test::FakeNvmlFile(), root.path() + "/usr/lib64/" + kNvmlName);
  test::ScriptOf(test::FakeNvmlFile()).count = 0;
  const SteadyTime until = SystemClock().Steady() + 1min;
  while (ReasonOf(sampler, "gpu") == before && SystemClock().Steady() < until) {
    clock.Advance(61s);
    sampler.Sample();
    std::this_thread::yield();
  }
  EXPECT_EQ(ReasonOf(sampler, "gpu"), "no GPU: NVML knows no device; no AMD or Intel card");
}

TEST(NextTick, LiesOnMultiplesOfTheIntervalSinceTheEpoch) {
  const Time whole = FromMicros(1'800'000'000'000'000);
  EXPECT_EQ(NextTick(whole, 500ms), whole + 500ms);
  EXPECT_EQ(NextTick(whole + 1ns, 500ms), whole + 500ms);
  EXPECT_EQ(NextTick(whole + 499'999'999ns, 500ms), whole + 500ms);
  EXPECT_EQ(NextTick(whole + 500ms, 500ms), whole + 1s);
}

TEST(TickRow, TakesNoMoreSeriesThanAFrameHolds) {
  TickRow row;
  for (std::size_t i = 0; i < kMaxSeriesPerFrame; ++i) {
    ASSERT_NE(row.Add("cpu_util_percent", "cpu" + std::to_string(i)), TickRow::kNoColumn);
  }
  EXPECT_EQ(row.Add("cpu_util_percent", "one-more"), TickRow::kNoColumn);
  row.Set(TickRow::kNoColumn, 1);
  EXPECT_EQ(TickRow().Add("cpu_util_percent", std::string(64, 'x')), TickRow::kNoColumn);
}

TEST(TickRow, LeavesOutWhatIsNoNumber) {
  TickRow row;
  const std::size_t column = row.Add("load_1m");
  row.Set(column, std::nan(""));
  EXPECT_FALSE(row.Has(column));
  row.Set(column, INFINITY);
  EXPECT_FALSE(row.Has(column));
  row.Set(column, 0);
  EXPECT_TRUE(row.Has(column));
}

TEST(Collectors, WorkOnThisMachine) {
  for (const CollectorKind& kind : CollectorTable()) {
    TickRow row;
    const auto made = kind.make("", row);
    if (!made) continue;
    EXPECT_TRUE((*made)->Collect(SteadyTime{1h}, row).ok()) << kind.name;
    for (const SeriesName& series : row.series()) EXPECT_NE(FindMetric(series.metric), nullptr);
  }
}

}  // namespace
}  // namespace stepscope
