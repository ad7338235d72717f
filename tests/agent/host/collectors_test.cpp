// Each collector against trees of files of our own.

#include <gtest/gtest.h>

#include <cmath>

#include "agent/collect/collector.h"
#include "agent/host/cpu.h"
#include "agent/host/disk.h"
#include "agent/host/load.h"
#include "agent/host/memory.h"
#include "agent/host/network.h"
#include "agent/host/pressure.h"
#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeRoot;

constexpr SteadyTime kStart{1h};

// Runs one collector of a root, at instants that the test names.
struct Bench {
  template <typename Make>
  Bench(Make make, const FakeRoot& root) {
    auto made = make(root.path(), row);
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (made) collector = std::move(*made);
  }
  Status At(Duration since_start) {
    row.Clear();
    return collector->Collect(kStart + since_start, row);
  }
  bool Missing(std::string_view metric, std::string_view device = "") const {
    return std::isnan(row.At(metric, device));
  }

  TickRow row;
  std::unique_ptr<Collector> collector;
};

TEST(CpuCollector, TellsUseAndIoWaitOfEachCoreApart) {
  FakeRoot root;
  root.Write("/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0\n");
  Bench cpu(MakeCpuCollector, root);
  ASSERT_TRUE(cpu.At(0s));
  EXPECT_TRUE(cpu.Missing("cpu_util_percent", "cpu0"));
  root.Write(
      "/proc/stat",
      "cpu  30 0 10 140 20 0 0 0 0 0\ncpu0 30 0 10 40 20 0 0\ncpu1 0 0 0 100 0 0 0\nintr 1\n");
  ASSERT_TRUE(cpu.At(1s));
  EXPECT_DOUBLE_EQ(cpu.row.At("cpu_util_percent", "cpu0"), 40);
  EXPECT_DOUBLE_EQ(cpu.row.At("cpu_iowait_percent", "cpu0"), 20);
  EXPECT_DOUBLE_EQ(cpu.row.At("cpu_util_percent", "cpu1"), 0);
  EXPECT_DOUBLE_EQ(cpu.row.At("node_cpu_percent"), 20);
  EXPECT_DOUBLE_EQ(cpu.row.At("node_iowait_percent"), 10);
}

TEST(CpuCollector, LeavesOutACoreWhoseCounterRanBackwards) {
  FakeRoot root;
  root.Write("/proc/stat", "cpu0 10 0 0 50 40\ncpu1 10 0 0 50 40\n");
  Bench cpu(MakeCpuCollector, root);
  ASSERT_TRUE(cpu.At(0s));
  root.Write("/proc/stat", "cpu0 20 0 0 60 39\ncpu1 20 0 0 60 40\n");
  ASSERT_TRUE(cpu.At(1s));
  EXPECT_TRUE(cpu.Missing("cpu_util_percent", "cpu0"));
  EXPECT_DOUBLE_EQ(cpu.row.At("cpu_util_percent", "cpu1"), 50);
}

TEST(CpuCollector, StartsAgainWithACoreThatWasOffline) {
  FakeRoot root;
  root.Write("/proc/stat", "cpu0 0 0 0 0\ncpu1 0 0 0 0\n");
  Bench cpu(MakeCpuCollector, root);
  ASSERT_TRUE(cpu.At(0s));
  root.Write("/proc/stat", "cpu0 10 0 0 10\n");
  ASSERT_TRUE(cpu.At(1s));
  EXPECT_TRUE(cpu.Missing("cpu_util_percent", "cpu1"));
  root.Write("/proc/stat", "cpu0 20 0 0 20\ncpu1 90 0 0 10\n");
  ASSERT_TRUE(cpu.At(2s));
  EXPECT_TRUE(cpu.Missing("cpu_util_percent", "cpu1"));
  root.Write("/proc/stat", "cpu0 30 0 0 30\ncpu1 100 0 0 20\n");
  ASSERT_TRUE(cpu.At(3s));
  EXPECT_DOUBLE_EQ(cpu.row.At("cpu_util_percent", "cpu1"), 50);
}

TEST(CpuCollector, SaysThatThereIsNoCpuLine) {
  FakeRoot root;
  root.Write("/proc/stat", "intr 1 2 3\n");
  Bench cpu(MakeCpuCollector, root);
  EXPECT_FALSE(cpu.At(0s));
}

TEST(ParseCpuLine, RefusesOddLines) {
  int core = 0;
  for (const char* line : {"", "cpu", "cpu0", "cpu0 1 2 3", "cpux 1 2 3 4", "cpu-1 1 2 3 4",
                           "cpu99999 1 2 3 4", "cpu0 a b c d", "cpu0 -1 2 3 4", "intr 1 2 3 4"}) {
    EXPECT_FALSE(ParseCpuLine(line, core)) << line;
  }
  EXPECT_TRUE(ParseCpuLine("cpu7 1 2 3 4", core));
  EXPECT_EQ(core, 7);
}

TEST(MemoryCollector, CountsWhatIsNotAvailableAsUsed) {
  FakeRoot root;
  root.Write("/proc/meminfo",
             "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable:  250 kB\nSwapTotal: 50 kB\n"
             "SwapFree: 20 kB\n");
  Bench memory(MakeMemoryCollector, root);
  ASSERT_TRUE(memory.At(0s));
  EXPECT_DOUBLE_EQ(memory.row.At("memory_used_percent"), 75);
  EXPECT_DOUBLE_EQ(memory.row.At("memory_used_bytes"), 750 * 1024);
  EXPECT_DOUBLE_EQ(memory.row.At("memory_total_bytes"), 1000 * 1024);
  EXPECT_DOUBLE_EQ(memory.row.At("swap_used_bytes"), 30 * 1024);
}

TEST(ParseMemory, NamesWhatIsMissing) {
  EXPECT_EQ(ParseMemory("").error().message, "/proc/meminfo: no MemTotal");
  EXPECT_EQ(ParseMemory("MemTotal: 0 kB\n").error().message, "/proc/meminfo: no MemTotal");
  EXPECT_FALSE(ParseMemory("MemTotal: 10 kB\n"));
  EXPECT_FALSE(ParseMemory("MemTotal: 99999999999999999999 kB\n"));
  EXPECT_EQ(ParseMemory("MemTotal: 10 kB\nMemFree: 3 kB\nCached: 4 kB\n")->available_bytes, 7168u);
  EXPECT_EQ(ParseMemory("MemTotal: 10 kB\nMemAvailable: 99 kB\n")->available_bytes, 10240u);
}

TEST(DiskCollector, CountsWholeDevicesWithHardwareOnly) {
  FakeRoot root;
  root.MakeFolder("/sys/block/sda/device");
  root.MakeFolder("/sys/block/loop0");
  root.MakeFolder("/sys/block/dm-0");
  const auto stats = [&](int read, int write, int busy) {
    const std::string figures = Format("5 0 {} 1 5 0 {} 1 0 {} 9", read, write, busy);
    root.Write(
        "/proc/diskstats",
        Format("8 0 sda {0}\n8 1 sda1 {0}\n7 0 loop0 {0}\n253 0 dm-0 {0} 1 2 3 4\n", figures));
  };
  stats(0, 0, 0);
  Bench disk(MakeDiskCollector, root);
  ASSERT_TRUE(disk.At(0s));
  stats(200, 100, 250);
  ASSERT_TRUE(disk.At(500ms));
  EXPECT_DOUBLE_EQ(disk.row.At("disk_read_bytes_per_second", "sda"), 204800);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_write_bytes_per_second", "sda"), 102400);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_busy_percent", "sda"), 50);
  EXPECT_EQ(disk.row.size(), 3u);
}

TEST(DiskCollector, UsesTheExactTimeBetweenReadings) {
  FakeRoot root;
  root.MakeFolder("/sys/block/sda/device");
  root.Write("/proc/diskstats", "8 0 sda 0 0 0 0 0 0 0 0 0 0 0\n");
  Bench disk(MakeDiskCollector, root);
  ASSERT_TRUE(disk.At(0s));
  root.Write("/proc/diskstats", "8 0 sda 0 0 1000 0 0 0 0 0 0 2000 0\n");
  ASSERT_TRUE(disk.At(512ms));
  EXPECT_DOUBLE_EQ(disk.row.At("disk_read_bytes_per_second", "sda"), 1'000'000);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_busy_percent", "sda"), 100);
}

TEST(DiskCollector, PassesOverBrokenLines) {
  for (const char* line :
       {"", "8 0", "8 0 sda", "8 0 sda 1 2 3", "8 0 sda a b c d e f g h i j k"}) {
    EXPECT_FALSE(ParseDiskLine(line)) << line;
  }
}

TEST(NetworkCollector, LeavesOutTheLoopbackAndWhatContainersMake) {
  FakeRoot root;
  const auto devices = [&](int received, int sent) {
    std::string text = "Inter-| Receive\n face |bytes packets\n";
    for (const char* name : {"lo", "eth0", "veth12ab", "docker0", "bond0.7"}) {
      text += Format("{:>6}:{} 1 0 0 0 0 0 0 {} 1 0 0 0 0 0 0\n", name, received, sent);
    }
    root.Write("/proc/net/dev", text);
  };
  devices(1000, 0);
  Bench network(MakeNetworkCollector, root);
  ASSERT_TRUE(network.At(0s));
  devices(2000, 500);
  ASSERT_TRUE(network.At(2s));
  EXPECT_DOUBLE_EQ(network.row.At("network_receive_bytes_per_second", "eth0"), 500);
  EXPECT_DOUBLE_EQ(network.row.At("network_send_bytes_per_second", "eth0"), 250);
  EXPECT_DOUBLE_EQ(network.row.At("network_send_bytes_per_second", "bond0.7"), 250);
  EXPECT_EQ(network.row.size(), 4u);
}

TEST(NetworkCollector, GivesNoRateWhenACounterIsReset) {
  FakeRoot root;
  root.Write("/proc/net/dev", "eth0: 1000 0 0 0 0 0 0 0 1000 0\n");
  Bench network(MakeNetworkCollector, root);
  ASSERT_TRUE(network.At(0s));
  root.Write("/proc/net/dev", "eth0: 10 0 0 0 0 0 0 0 2000 0\n");
  ASSERT_TRUE(network.At(1s));
  EXPECT_TRUE(network.Missing("network_receive_bytes_per_second", "eth0"));
  EXPECT_DOUBLE_EQ(network.row.At("network_send_bytes_per_second", "eth0"), 1000);
}

TEST(LoadCollector, ReadsTheFirstNumber) {
  EXPECT_DOUBLE_EQ(*ParseLoad("0.25 0.18 0.12 1/80 11206\n"), 0.25);
  for (const char* text : {"", "x", "-1 2 3", "1,5"}) EXPECT_FALSE(ParseLoad(text)) << text;
}

TEST(PressureCollector, TurnsStalledMicrosecondsIntoShares) {
  FakeRoot root;
  const auto stalled = [&](int us) {
    for (const char* name : {"cpu", "memory", "io"}) {
      root.Write(Format("/proc/pressure/{}", name),
                 Format("some avg10=0.00 avg60=0.00 avg300=0.00 total={}\n"
                        "full avg10=0.00 avg60=0.00 avg300=0.00 total={}\n",
                        us, us / 2));
    }
  };
  stalled(0);
  Bench pressure(MakePressureCollector, root);
  ASSERT_TRUE(pressure.At(0s));
  stalled(100'000);
  ASSERT_TRUE(pressure.At(500ms));
  EXPECT_DOUBLE_EQ(pressure.row.At("pressure_io_percent"), 20);
  EXPECT_DOUBLE_EQ(pressure.row.At("pressure_io_full_percent"), 10);
  EXPECT_DOUBLE_EQ(pressure.row.At("pressure_cpu_percent"), 20);
}

TEST(PressureCollector, IsAbsentWhereTheKernelHasNone) {
  const FakeRoot root;
  TickRow row;
  const auto made = MakePressureCollector(root.path(), row);
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().message, "/proc/pressure/cpu: No such file or directory");
  EXPECT_EQ(row.size(), 0u);
}

TEST(PressureCollector, RefusesTextWithoutTotals) {
  for (const char* text : {"", "some avg10=0.00", "full avg10=0 total=5\n", "some total=x\n"}) {
    EXPECT_FALSE(ParsePressure(text)) << text;
  }
}

}  // namespace
}  // namespace stepscope
