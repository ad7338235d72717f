// Collectors that read less often than each tick, on trees of files.

#include <gtest/gtest.h>

#include "agent/collect/collector.h"
#include "agent/host/faults.h"
#include "agent/host/frequency.h"
#include "agent/host/nfs.h"
#include "agent/host/rdma.h"
#include "agent/host/tcp.h"
#include "core/base/text.h"
#include "tests/support/collector_bench.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeRoot;
using SeldomBench = test::CollectorBench;

TEST(FaultsCollector, ReadsEveryFiveSecondsAndTellsRatesOverThatTime) {
  FakeRoot root;
  const auto counts = [&](int faults, int major, int kills) {
    root.Write("/proc/vmstat", Format("nr_free_pages 5\npswpin 0\npgfault {}\npgmajfault {}\n"
                                      "oom_kill {}\nnr_unstable 0\n",
                                      faults, major, kills));
  };
  counts(1000, 10, 1);
  SeldomBench faults(MakeFaultsCollector, root);
  ASSERT_TRUE(faults.At(0s));
  EXPECT_DOUBLE_EQ(faults.row.At("memory_oom_kills"), 1);
  counts(3000, 11, 2);
  ASSERT_TRUE(faults.At(4500ms - 1ms));
  EXPECT_TRUE(faults.Missing("memory_oom_kills"));
  ASSERT_TRUE(faults.At(4999ms));  // a tick that came early
  EXPECT_NEAR(faults.row.At("memory_faults_per_second"), 2000 / 4.999, 1);
  EXPECT_DOUBLE_EQ(faults.row.At("memory_major_faults_per_second"), 0.2);
  EXPECT_DOUBLE_EQ(faults.row.At("memory_oom_kills"), 2);
  EXPECT_EQ(faults.row.size(), 3u);  // nothing was ever swapped
}

TEST(PacedCollector, FailureStandsUntilTheNextReading) {
  FakeRoot root;
  const auto write = [&](const char* text) { root.Write("/proc/net/snmp", text); };
  write("Tcp: InSegs RetransSegs\nTcp: 900 1\n");
  SeldomBench tcp(MakeTcpCollector, root);
  ASSERT_TRUE(tcp.At(0s));
  write("Tcp: InSegs\nTcp: 900\n");
  EXPECT_TRUE(tcp.At(500ms)) << "not read yet";
  EXPECT_FALSE(tcp.At(5s));
  EXPECT_FALSE(tcp.At(5500ms)) << "else it would be told of again at each reading";
  write("Tcp: InSegs RetransSegs\nTcp: 900 6\n");
  EXPECT_TRUE(tcp.At(10s));
  EXPECT_DOUBLE_EQ(tcp.row.At("tcp_retransmits_per_second"), 0.5);
}

TEST(TcpCollector, FindsItsColumnByName) {
  FakeRoot root;
  const auto retransmitted = [&](int segments) {
    root.Write("/proc/net/snmp", Format("Ip: Forwarding\nIp: 1\nTcp: RtoMin InSegs RetransSegs\n"
                                        "Tcp: -1 900 {}\nUdp: InDatagrams\nUdp: 7\n",
                                        segments));
  };
  retransmitted(10);
  SeldomBench tcp(MakeTcpCollector, root);
  ASSERT_TRUE(tcp.At(0s));
  retransmitted(20);
  ASSERT_TRUE(tcp.At(5s));
  EXPECT_DOUBLE_EQ(tcp.row.At("tcp_retransmits_per_second"), 2);
  for (const char* text : {"", "Tcp: RetransSegs\n", "Tcp: A\nTcp: 1\n", "Tcp: RetransSegs\nUdp: 1",
                           "Tcp: A RetransSegs\nTcp: 1\n"}) {
    EXPECT_FALSE(ParseTcp(text, "RetransSegs")) << text;
  }
}

TEST(FrequencyCollector, TellsEachCoreAndTheMeanOfThoseOnline) {
  FakeRoot root;
  const auto clock = [&](int core, std::string_view khz) {
    root.Write(Format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", core), khz);
  };
  clock(0, "2000000\n");
  clock(1, "3000000\n");
  clock(2, "");
  SeldomBench frequency(MakeFrequencyCollector, root);
  ASSERT_TRUE(frequency.At(0s));
  EXPECT_DOUBLE_EQ(frequency.row.At("cpu_clock_mhz", "cpu1"), 3000);
  EXPECT_DOUBLE_EQ(frequency.row.At("node_cpu_clock_mhz"), 2500);
  EXPECT_TRUE(frequency.Missing("cpu_clock_mhz", "cpu2"));
  ASSERT_TRUE(frequency.At(4s));
  EXPECT_TRUE(frequency.Missing("node_cpu_clock_mhz"));
  ASSERT_TRUE(frequency.At(5s));
  EXPECT_DOUBLE_EQ(frequency.row.At("node_cpu_clock_mhz"), 2500);
}

TEST(FrequencyCollector, IsAbsentWhereTheKernelSetsNoClocks) {
  FakeRoot root;
  root.MakeFolder("/sys/devices/system/cpu/cpu0");
  TickRow row;
  const auto made = MakeFrequencyCollector(root.path(), row);
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.error().message.find("cpu0/cpufreq/scaling_cur_freq"), std::string::npos);
}

std::string Mount(std::string_view remote, std::string_view folder, int reads, int bytes, int ms) {
  return Format(
      "device {} mounted on {} with fstype nfs4 statvers=1.1\n"
      "\topts:\trw,vers=4.2\n\tevents:\t9 9 9 9 9 9 9 9 9 9\n\tbytes:\t1 2 3 4 {} 70 8 9\n"
      "\tRPC iostats version: 1.1  p/v: 100003/4 (nfs)\n\txprt:\ttcp 0 0 1 0 1 9 9 0 9 0 2 0 0\n"
      "\tper-op statistics\n\t        NULL: 1 1 0 44 24 8 0 8 0\n"
      "\t        READ: {} 9 0 100 200 0 {} {} 0\n\t       WRITE: 0 0 0 0 0 0 0 0 0\n\n",
      remote, folder, bytes, reads, ms, ms);
}

constexpr std::string_view kOther = "device /dev/sda1 mounted on / with fstype ext4\n";

TEST(NfsCollector, CountsEachExportOnce) {
  FakeRoot root;
  const auto mounts = [&](int reads, int bytes, int ms) {
    root.Write("/proc/self/mountstats",
               Format("{0}{1}device sysfs mounted on /sys with fstype sysfs\n{2}{3}", kOther,
                      Mount("nas:/data", "/mnt/data", reads, bytes, ms),
                      Mount("nas:/data", "/again", reads, bytes, ms),
                      Mount("nas:/home", "/home", 5, 5, 5)));
  };
  mounts(10, 1000, 100);
  SeldomBench nfs(MakeNfsCollector, root);
  ASSERT_TRUE(nfs.At(0s));
  mounts(30, 9000, 200);
  ASSERT_TRUE(nfs.At(2s));
  EXPECT_DOUBLE_EQ(nfs.row.At("nfs_read_bytes_per_second", "/mnt/data"), 4000);
  EXPECT_DOUBLE_EQ(nfs.row.At("nfs_write_bytes_per_second", "/mnt/data"), 0);
  EXPECT_DOUBLE_EQ(nfs.row.At("nfs_operations_per_second", "/mnt/data"), 10);
  EXPECT_DOUBLE_EQ(nfs.row.At("nfs_read_wait_seconds", "/mnt/data"), 0.005);
  EXPECT_TRUE(nfs.Missing("nfs_write_wait_seconds", "/mnt/data"));
  EXPECT_TRUE(nfs.Missing("nfs_read_bytes_per_second", "/again"));
  EXPECT_DOUBLE_EQ(nfs.row.At("nfs_read_bytes_per_second", "/home"), 0);
}

TEST(NfsCollector, FindsAMountThatComesLater) {
  FakeRoot root;
  root.Write("/proc/self/mountstats", kOther);
  SeldomBench nfs(MakeNfsCollector, root);
  ASSERT_TRUE(nfs.At(0s));
  const std::string folder = "/" + std::string(70, 'x') + "/set";
  root.Write("/proc/self/mountstats", Mount("nas:/set", folder, 1, 1, 1));
  for (const Duration at : {25s, 30s, 32s}) ASSERT_TRUE(nfs.At(at));
  EXPECT_DOUBLE_EQ(nfs.row.At("nfs_operations_per_second", "/set"), 0);
}

TEST(NfsCollector, SeesTheNodesMountsBelowAnotherRoot) {
  FakeRoot root;
  root.Write("/proc/self/mountstats", Mount("nas:/data", "/host/mnt/data", 1, 1, 1));
  root.Write("/proc/1/mountstats", Mount("nas:/data", "/mnt/data", 1, 1, 1));
  SeldomBench nfs(MakeNfsCollector, root);
  ASSERT_TRUE(nfs.At(0s) && nfs.At(2s));
  EXPECT_DOUBLE_EQ(nfs.row.At("nfs_operations_per_second", "/mnt/data"), 0);
  EXPECT_TRUE(nfs.Missing("nfs_operations_per_second", "/host/mnt/data"));
}

TEST(TakeNfsMount, PassesOverWhatIsNone) {
  for (std::string_view text : {std::string_view(), kOther, std::string_view("device\n"),
                                std::string_view("device a mounted on\n\tbytes: 1\n")}) {
    EXPECT_FALSE(TakeNfsMount(text)) << text;
  }
  std::string_view cut = "device a:/b mounted on /c with fstype nfs\ndevice x mounted on /y\n";
  const auto mount = TakeNfsMount(cut);
  ASSERT_TRUE(mount);
  EXPECT_EQ(mount->folder, "/c");
  EXPECT_EQ(mount->operations, 0u);
  EXPECT_EQ(cut, "device x mounted on /y\n");
}

TEST(RdmaCollector, CountsWordsAsBytesAndErrorsOfAllKindsTogether) {
  FakeRoot root;
  const std::string port = "/sys/class/infiniband/mlx5_0/ports/1/";
  const auto counts = [&](int words, int symbol_errors, int discards) {
    root.Write(port + "counters/port_rcv_data", Format("{}\n", words));
    root.Write(port + "counters/port_xmit_data", "0\n");
    root.Write(port + "counters/symbol_error", Format("{}\n", symbol_errors));
    root.Write(port + "counters/port_xmit_discards", Format("{}\n", discards));
    root.Write(port + "hw_counters/out_of_sequence", "6\n");
  };
  root.Write(port + "rate", "400 Gb/sec (4X NDR)\n");
  counts(1000, 3, 4);
  SeldomBench rdma(MakeRdmaCollector, root);
  ASSERT_TRUE(rdma.At(0s));
  EXPECT_DOUBLE_EQ(rdma.row.At("rdma_link_bytes_per_second", "mlx5_0:1"), 5e10);
  counts(6000, 5, 12);
  ASSERT_TRUE(rdma.At(5s));
  EXPECT_DOUBLE_EQ(rdma.row.At("rdma_receive_bytes_per_second", "mlx5_0:1"), 4000);
  EXPECT_DOUBLE_EQ(rdma.row.At("rdma_errors_per_second", "mlx5_0:1"), 2);
  EXPECT_EQ(rdma.row.size(), 3u);  // nothing was sent, nothing retransmitted
}

TEST(RdmaCollector, PassesOverRatesThatAreNone) {
  EXPECT_DOUBLE_EQ(ParseRdmaRate("2.5 Gb/sec (1X SDR)\n").value_or(0), 312.5e6);
  for (const char* text : {"", "x", "400", "-1 Gb/sec", "0 Gb/sec"}) {
    EXPECT_FALSE(ParseRdmaRate(text)) << text;
  }
}

}  // namespace
}  // namespace stepscope
