// Nothing is allocated between two ticks: sampling costs the same after a week as at the start.

#include <gtest/gtest.h>
#include <pthread.h>

#include <atomic>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

#include "agent/frames/framer.h"
#include "agent/frames/job_tick_row.h"
#include "agent/frames/rank_metrics.h"
#include "agent/host/cgroup.h"
#include "agent/host/process.h"
#include "agent/sample/sampler.h"
#include "core/base/text.h"
#include "tests/agent/gpu/gpu_fixture.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_root.h"
#include "tests/support/mark_writer.h"

namespace {

std::atomic<bool> counting = false;
std::atomic<int> allocations = 0;

// The thread that sums up memory once a minute opens each file anew.
bool OfSampling() {
  char name[16] = {};
  pthread_getname_np(pthread_self(), name, sizeof name);
  return std::strcmp(name, "memory") != 0;
}

void* Allocate(std::size_t size) {
  if (counting && OfSampling()) ++allocations;
  void* memory = std::malloc(size);
  if (memory == nullptr) std::abort();
  return memory;
}

}  // namespace

// Counts for all threads of this program.
void* operator new(std::size_t size) {
  return Allocate(size);
}
void* operator new(std::size_t size, const std::nothrow_t&) noexcept {
  return Allocate(size);
}
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}

namespace stepscope {
namespace {

using test::FakeClock;
using test::FakeNvmlFile;
using test::FakeRoot;

void WriteNode(const FakeRoot& root) {
  root.Write("/proc/stat", "cpu  1 0 0 9\ncpu0 1 0 0 9\ncpu1 0 0 0 9\n");
  root.Write("/proc/meminfo", "MemTotal: 100 kB\nMemAvailable: 40 kB\n");
  root.Write("/proc/loadavg", "1.50 1 1 1/1 1\n");
  root.Write("/proc/net/dev", "eth0: 1000 0 0 0 0 0 0 0 1000 0\n");
  root.MakeFolder("/sys/block/sda/device");
  root.MakeFolder("/sys/block/nvme0n1/device");
  root.Write("/proc/diskstats", "8 0 sda\n8 1 sda1\n259 0 nvme0n1\n259 1 nvme0n1p1\n");
  root.Write("/sys/block/sda/stat", "1 0 1 0 0 0 0 0 0 0 0\n");
  root.Write("/sys/block/nvme0n1/stat", "1 0 1 0 0 0 0 0 0 0 0\n");
  for (const char* kind : {"cpu", "memory", "io"}) {
    root.Write(Format("/proc/pressure/{}", kind), "some total=5\nfull total=5\n");
  }
  root.Write("/proc/vmstat", "pgfault 1\npgmajfault 1\noom_kill 0\n");
  root.Write("/proc/net/snmp", "Tcp: RetransSegs\nTcp: 5\n");
  root.Write(
      "/proc/self/mountstats",
      "device a:/b mounted on /c with fstype nfs4\n\tbytes: 1 1 1 1 1 1\n\tper-op statistics\n"
      "\tREAD: 1 1 1 1 1 1 1 1\n");
  root.Write("/sys/class/infiniband/mlx5_0/ports/1/counters/port_rcv_data", "7\n");
  root.Write("/sys/class/net/eth0/speed", "10000\n");
  root.Write("/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "2000000\n");
  root.Write("/proc/self/cgroup", "0::/\n");
  root.Write("/sys/fs/cgroup/memory.current", "4096\n");
  root.MakeFolder("/usr/lib64");
  std::filesystem::create_symlink(FakeNvmlFile(), root.path() + "/usr/lib64/" + kNvmlName);
  root.Write("/sys/class/drm/card1/device/vendor", "0x1002\n");
  root.Write("/sys/class/drm/card1/device/mem_info_vram_total", "206141652992\n");
  root.Write("/sys/class/drm/card1/device/gpu_busy_percent", "7\n");
}

void WriteProcess(const FakeRoot& root, int pid, int parent, std::string_view children) {
  const std::string folder = Format("/proc/{}/", pid);
  const std::string stat =
      Format("{} (python3) S {} 1 1 0 -1 0 9 9 9 9 5 0 7 7 20 0\n", pid, parent);
  root.Write(folder + "stat", stat);
  root.Write(folder + "statm", "900 100 40 1 0 9 0\n");
  root.Write(folder + "io", "read_bytes: 1\nwrite_bytes: 0\n");
  root.Write(folder + "cmdline", "python3");
  root.Write(Format("{}task/{}/stat", folder, pid), stat);
  root.Write(Format("{}task/{}/schedstat", folder, pid), "5 5 7\n");
  root.Write(Format("{}task/{}/children", folder, pid), children);
  root.Write(Format("{}task/{}/children", folder, pid + 10), "");
}

// Every source is read at each tick, however slow the machine is.
constexpr double kAnyCost = 1;

// The sampling thread collects a job's part of each tick for its next push.
TEST(Sampling, AllocatesNothingForAJobsFramesAfterTheirStart) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root);
  test::ScriptOf(FakeNvmlFile()).count = 2;
  root.Write("/proc/100/cgroup", "0::/\n");
  WriteProcess(root, 100, 1, "");
  const std::vector<TrainingProcess> listed = {{"rank0", 100}};
  const ListTraining list = [&](auto& now) { now = listed; };
  Sampler sampler(root.path(), clock, kAnyCost);
  const auto processes = MakeProcessCollector(
      root.path(), list,
      [&](SteadyTime now, auto& on_gpus) { sampler.GpuProcessesInto(now, on_gpus); });
  const auto cgroup = MakeJobCgroupCollector(root.path(), list);
  JobTickRow job;
  job.SetGpus({"gpu1"});
  FrameStream stream({"bert", "node-1", ""}, {}, clock);
  TickFramer framer(stream);
  std::size_t series = 0;
  const auto run = [&](int ticks) {
    for (int i = 0; i < ticks; ++i) {
      clock.Advance(500ms);
      counting = true;
      const TickRow& node = sampler.Sample();
      TickRow& row = job.Of(node);
      const bool read =
          processes->Collect(clock.Steady(), row).ok() && cgroup->Collect(clock.Steady(), row).ok();
      framer.Add(clock.Now(), row);
      counting = false;
      ASSERT_TRUE(read);
      series = row.size() + node.size();
      if (i % 4 != 3) continue;
      framer.Cut();  // on the thread that pushes
      stream.Acknowledge(UINT64_MAX);
    }
  };
  // Values that are read on threads of their own come when that thread gets its turn: a tick in
  // which a series begins may allocate.
  int counted = -1;
  for (int i = 0; i < 50 && counted < 0; ++i) {
    const std::size_t before = series;
    allocations = 0;
    run(200);
    if (series == before) counted = allocations;
  }
  EXPECT_GT(series, 80u);
  EXPECT_EQ(counted, 0);
}

// Each rank sets two metrics between two ticks.
TEST(Sampling, AllocatesNothingForMetricsAfterTheirFirstValues) {
  FakeRoot root;
  FakeClock clock;
  IntakeOptions options;
  options.socket_path = root.path() + "/marks.sock";
  options.read_interval = 1h;
  const auto intake = Intake::Start(options, clock);
  ASSERT_TRUE(intake.ok()) << intake.error().message;
  testing_support::RingWriter rings[2];
  std::vector<std::unique_ptr<testing_support::FakeProcess>> processes;
  for (int rank = 0; rank < 2; ++rank) {
    processes.push_back(std::make_unique<testing_support::FakeProcess>(options.socket_path));
    processes.back()->Hello(rank, rings[rank]);
    processes.back()->Send(MarkNames{{{1, "samples_per_second"}, {2, "loss"}}});
    ASSERT_TRUE(processes.back()->Receive());
  }
  RankMetrics metrics([&](const UseMetric& use) { (*intake)->TakeMetrics("", use); });
  TickRow row;
  for (int i = 0; i < 100; ++i) {
    clock.Advance(500ms);
    for (auto& ring : rings) {
      ring.Metric(1, i * 500ms, 1480.0 + i);
      ring.Metric(2, i * 500ms, 1.0 / (i + 1));
    }
    if (i == 1) allocations = 0;
    counting = true;
    row.Clear();
    const bool read = metrics.Collect(clock.Steady(), row).ok();
    counting = false;
    ASSERT_TRUE(read);
    ASSERT_DOUBLE_EQ(row.At("user.samples_per_second", "rank1"), 1480.0 + i);
  }
  EXPECT_EQ(row.size(), 4u);
  EXPECT_EQ(allocations, 0);
}

TEST(Sampling, AllocatesNothingAfterItsStart) {
  FakeRoot root;
  FakeClock clock;
  WriteNode(root);
  test::ScriptOf(FakeNvmlFile()).count = 8;
  WriteProcess(root, 100, 1, "101 102 ");
  WriteProcess(root, 101, 100, "");
  WriteProcess(root, 102, 100, "");
  Sampler sampler(root.path(), clock, kAnyCost);
  const std::vector<TrainingProcess> listed = {{"rank0", 100}};
  sampler.AddPlanned("process",
                     MakeProcessCollector(root.path(), [&](auto& now) { now = listed; }));
  for (int i = 0; i < 25; ++i) {  // until the slowest source was read twice
    clock.Advance(500ms);
    sampler.Sample();
  }
  ASSERT_DOUBLE_EQ(sampler.Sample().At("gpu_util_percent", "gpu7"), 97);
  bool shown = false;  // a tick of a busy machine may be too early for its reading
  for (int i = 0; i < 100 && !shown; ++i) {
    shown = sampler.Sample().At("gpu_util_percent", "card1") == 7;
  }
  ASSERT_TRUE(shown);
  clock.Advance(500ms);
  ASSERT_DOUBLE_EQ(sampler.Sample().At("process_thread_cpu_percent", "rank0"), 0);
  allocations = 0;
  counting = true;
  for (int i = 0; i < 300; ++i) {  // long enough for slow paces: the walks over threads, memory
    clock.Advance(500ms);
    sampler.Sample();
  }
  counting = false;
  EXPECT_EQ(allocations, 0);
}

}  // namespace
}  // namespace stepscope
