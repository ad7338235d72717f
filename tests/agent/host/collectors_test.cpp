// Each collector against trees of files of our own.

#include <gtest/gtest.h>

#include "agent/collect/collector.h"
#include "agent/host/cpu.h"
#include "agent/host/load.h"
#include "agent/host/memory.h"
#include "agent/host/network.h"
#include "agent/host/pressure.h"
#include "core/base/text.h"
#include "tests/support/collector_bench.h"
#include "tests/support/fake_root.h"
#include "tests/support/large_node.h"

namespace stepscope {
namespace {

using test::FakeRoot;

using CollectorsBench = test::CollectorBench;

TEST(CpuCollector, TellsUseAndIoWaitOfEachCoreApart) {
  FakeRoot root;
  root.Write("/proc/stat", "cpu  0 0 0 0 0 0 0 0 0 0\ncpu0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0\n");
  CollectorsBench cpu(MakeCpuCollector, root);
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

TEST(CpuCollector, TellsWhatTheUseIsMadeOf) {
  FakeRoot root;
  root.Write("/proc/stat", "cpu  0 0 0 0 0 0 0 5\ncpu0 0 0 0 0 0 0 0 5\nintr 1 2\nctxt 1000\n");
  CollectorsBench cpu(MakeCpuCollector, root);
  ASSERT_TRUE(cpu.At(0s));
  root.Write("/proc/stat",
             "cpu  30 10 12 40 0 1 2 10\ncpu0 30 10 12 40 0 1 2 10\nintr 3 4\nctxt 1400\n");
  ASSERT_TRUE(cpu.At(500ms));
  for (const char* device : {"", "cpu0"}) {
    const std::string prefix = *device == 0 ? "node" : "cpu";
    EXPECT_DOUBLE_EQ(cpu.row.At(prefix + "_user_percent", device), 40);
    EXPECT_DOUBLE_EQ(cpu.row.At(prefix + "_system_percent", device), 15);
    EXPECT_DOUBLE_EQ(cpu.row.At(prefix + "_steal_percent", device), 5);
  }
  EXPECT_DOUBLE_EQ(cpu.row.At("node_context_switches_per_second"), 800);
}

TEST(CpuCollector, KeepsToTheUseAndIoWaitOfEachCoreOnALargeNode) {
  FakeRoot root;
  root.Write("/proc/stat", test::LargeStat(192, 0));
  CollectorsBench cpu(MakeCpuCollector, root);
  ASSERT_TRUE(cpu.At(0s));
  root.Write("/proc/stat", test::LargeStat(192, 1));
  ASSERT_TRUE(cpu.At(500ms));
  EXPECT_NEAR(cpu.row.At("cpu_util_percent", "cpu191"), 65, 3);
  EXPECT_TRUE(cpu.Missing("cpu_user_percent", "cpu191"));
  EXPECT_NEAR(cpu.row.At("node_user_percent"), 54, 3);
  EXPECT_DOUBLE_EQ(cpu.row.At("node_context_switches_per_second"), 600'000);
  EXPECT_EQ(cpu.row.size(), 2 * 192 + 4u + 1);
}

TEST(CpuCollector, LeavesOutACoreWhoseCounterRanBackwards) {
  FakeRoot root;
  root.Write("/proc/stat", "cpu0 10 0 0 50 40\ncpu1 10 0 0 50 40\n");
  CollectorsBench cpu(MakeCpuCollector, root);
  ASSERT_TRUE(cpu.At(0s));
  root.Write("/proc/stat", "cpu0 20 0 0 60 39\ncpu1 20 0 0 60 40\n");
  ASSERT_TRUE(cpu.At(1s));
  EXPECT_TRUE(cpu.Missing("cpu_util_percent", "cpu0"));
  EXPECT_DOUBLE_EQ(cpu.row.At("cpu_util_percent", "cpu1"), 50);
}

TEST(CpuCollector, StartsAgainWithACoreThatWasOffline) {
  FakeRoot root;
  root.Write("/proc/stat", "cpu0 0 0 0 0\ncpu1 0 0 0 0\n");
  CollectorsBench cpu(MakeCpuCollector, root);
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
  CollectorsBench cpu(MakeCpuCollector, root);
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
             "MemTotal: 1000 kB\nMemFree: 100 kB\nMemAvailable:  250 kB\nCached: 90 kB\n"
             "SwapTotal: 50 kB\nSwapFree: 20 kB\nDirty: 3 kB\nWriteback: 4 kB\nShmem: 8 kB\n");
  CollectorsBench memory(MakeMemoryCollector, root);
  ASSERT_TRUE(memory.At(0s));
  EXPECT_DOUBLE_EQ(memory.row.At("memory_used_percent"), 75);
  EXPECT_DOUBLE_EQ(memory.row.At("memory_used_bytes"), 750 * 1024);
  EXPECT_DOUBLE_EQ(memory.row.At("memory_available_bytes"), 250 * 1024);
  EXPECT_DOUBLE_EQ(memory.row.At("memory_total_bytes"), 1000 * 1024);
  EXPECT_DOUBLE_EQ(memory.row.At("swap_used_bytes"), 30 * 1024);
  EXPECT_DOUBLE_EQ(memory.row.At("memory_cached_bytes"), 90 * 1024);
  EXPECT_DOUBLE_EQ(memory.row.At("memory_shared_bytes"), 8 * 1024);
  EXPECT_DOUBLE_EQ(memory.row.At("memory_dirty_bytes"), 7 * 1024);
}

TEST(MemoryCollector, HasNoSeriesOfSwapWhereThereIsNone) {
  FakeRoot root;
  root.Write("/proc/meminfo", "MemTotal: 1000 kB\nMemAvailable: 250 kB\nSwapTotal: 0 kB\n");
  CollectorsBench memory(MakeMemoryCollector, root);
  ASSERT_TRUE(memory.At(0s));
  EXPECT_TRUE(memory.Missing("swap_used_bytes"));
}

TEST(ParseMemory, NamesWhatIsMissing) {
  EXPECT_EQ(ParseMemory("").error().message, "/proc/meminfo: no MemTotal");
  EXPECT_EQ(ParseMemory("MemTotal: 0 kB\n").error().message, "/proc/meminfo: no MemTotal");
  EXPECT_FALSE(ParseMemory("MemTotal: 10 kB\n"));
  EXPECT_FALSE(ParseMemory("MemTotal: 99999999999999999999 kB\n"));
  EXPECT_EQ(ParseMemory("MemTotal: 10 kB\nMemFree: 3 kB\nCached: 4 kB\n")->available_bytes, 7168u);
  EXPECT_EQ(ParseMemory("MemTotal: 10 kB\nMemAvailable: 99 kB\n")->available_bytes, 10240u);
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
  CollectorsBench network(MakeNetworkCollector, root);
  ASSERT_TRUE(network.At(0s));
  devices(2000, 500);
  ASSERT_TRUE(network.At(2s));
  EXPECT_DOUBLE_EQ(network.row.At("network_receive_bytes_per_second", "eth0"), 500);
  EXPECT_DOUBLE_EQ(network.row.At("network_send_bytes_per_second", "eth0"), 250);
  EXPECT_DOUBLE_EQ(network.row.At("network_send_bytes_per_second", "bond0.7"), 250);
  for (const SeriesName& series : network.row.series()) {
    EXPECT_TRUE(series.device == "eth0" || series.device == "bond0.7") << series.device;
  }
}

TEST(NetworkCollector, HasDropsAndErrorsOnlyOfThoseThatHadSome) {
  FakeRoot root;
  root.Write("/sys/class/net/eth0/speed", "10000\n");
  root.Write("/sys/class/net/eth1/speed", "-1\n");  // no link
  root.Write("/proc/net/dev",
             "eth0: 1 10 5 7 0 0 0 0 1 10 0 0 0 0 0 0\neth1: 1 1 0 0 0 0 0 0 1 1 0 0\n");
  CollectorsBench network(MakeNetworkCollector, root);
  ASSERT_TRUE(network.At(0s));
  EXPECT_DOUBLE_EQ(network.row.At("network_link_bytes_per_second", "eth0"), 1.25e9);
  root.Write("/proc/net/dev",
             "eth0: 1 30 5 8 0 0 0 0 1 50 0 3 0 0 0 0\neth1: 1 1 0 0 0 0 0 0 1 1 0 0\n");
  ASSERT_TRUE(network.At(500ms));
  EXPECT_DOUBLE_EQ(network.row.At("network_receive_packets_per_second", "eth0"), 40);
  EXPECT_DOUBLE_EQ(network.row.At("network_send_packets_per_second", "eth0"), 80);
  EXPECT_DOUBLE_EQ(network.row.At("network_receive_drops_per_second", "eth0"), 2);
  EXPECT_DOUBLE_EQ(network.row.At("network_send_drops_per_second", "eth0"), 6);
  EXPECT_DOUBLE_EQ(network.row.At("network_send_packets_per_second", "eth1"), 0);
  EXPECT_EQ(network.row.size(), 4u + 1 + 2 + 4);  // eth0: with link and drops
}

TEST(NetworkCollector, GivesNoRateWhenACounterIsReset) {
  FakeRoot root;
  root.Write("/proc/net/dev", "eth0: 1000 0 0 0 0 0 0 0 1000 0\n");
  CollectorsBench network(MakeNetworkCollector, root);
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

TEST(LoadCollector, StandsUntilTheKernelWorksItOutAgain) {
  FakeRoot root;
  root.Write("/proc/loadavg", "1.50 1 1 1/1 1\n");
  CollectorsBench load(MakeLoadCollector, root);
  ASSERT_TRUE(load.At(0s));
  root.Write("/proc/loadavg", "2.50 1 1 1/1 1\n");
  ASSERT_TRUE(load.At(4s));
  EXPECT_DOUBLE_EQ(load.row.At("load_1m"), 1.5);
  ASSERT_TRUE(load.At(5s));
  EXPECT_DOUBLE_EQ(load.row.At("load_1m"), 2.5);
  root.Write("/proc/loadavg", "");
  EXPECT_FALSE(load.At(10s));
  EXPECT_FALSE(load.At(11s));  // not well again in between
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
  CollectorsBench pressure(MakePressureCollector, root);
  ASSERT_TRUE(pressure.At(0s));
  stalled(100'000);
  ASSERT_TRUE(pressure.At(500ms));
  EXPECT_TRUE(pressure.Missing("pressure_io_percent"));  // every 2 s
  ASSERT_TRUE(pressure.At(2s));
  EXPECT_DOUBLE_EQ(pressure.row.At("pressure_io_percent"), 5);
  EXPECT_DOUBLE_EQ(pressure.row.At("pressure_io_full_percent"), 2.5);
  EXPECT_DOUBLE_EQ(pressure.row.At("pressure_cpu_percent"), 5);
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
