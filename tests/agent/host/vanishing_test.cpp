// Devices that are removed between two ticks and added again. A file of a removed device cannot be
// read; here it is empty. A device that is added again has a new file.

#include <gtest/gtest.h>

#include <filesystem>

#include "agent/host/disk.h"
#include "agent/host/network.h"
#include "core/base/text.h"
#include "tests/support/collector_bench.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeRoot;

using VanishingBench = test::CollectorBench;

void TakeAway(const FakeRoot& root, const std::string& folder, const std::string& file) {
  root.Write(folder + file, "");
  std::filesystem::remove_all(root.path() + folder);
}

TEST(VanishingDevices, ADiskStopsNoOtherAndComesAgain) {
  FakeRoot root;
  const auto show = [&](const std::string& disk, int sectors) {
    root.MakeFolder(Format("/sys/block/{}/device", disk));
    root.Write(Format("/sys/block/{}/stat", disk), Format("1 0 {} 0 0 0 0 0 0 0 0\n", sectors));
  };
  constexpr auto kRead = "disk_read_bytes_per_second";
  root.Write("/proc/diskstats", "8 0 sda\n8 16 sdb\n");
  show("sda", 0);
  show("sdb", 0);
  VanishingBench disk(MakeDiskCollector, root);
  ASSERT_TRUE(disk.At(0s));
  TakeAway(root, "/sys/block/sdb", "/stat");
  root.Write("/proc/diskstats", "8 0 sda\n");
  show("sda", 2);
  ASSERT_TRUE(disk.At(1s));
  EXPECT_DOUBLE_EQ(disk.row.At(kRead, "sda"), 1024);
  EXPECT_TRUE(disk.Missing(kRead, "sdb"));
  ASSERT_TRUE(disk.At(30s));
  EXPECT_TRUE(disk.Missing(kRead, "sdb"));

  root.Write("/proc/diskstats", "8 0 sda\n8 16 sdb\n");
  show("sdb", 90'000'000);  // another disk, with counters of its own
  ASSERT_TRUE(disk.At(60s));
  EXPECT_TRUE(disk.Missing(kRead, "sdb"));
  show("sdb", 90'000'004);
  ASSERT_TRUE(disk.At(61s));
  EXPECT_DOUBLE_EQ(disk.row.At(kRead, "sdb"), 2048);
}

TEST(VanishingDevices, AnInterfaceStopsNoOtherAndComesAgain) {
  FakeRoot root;
  std::string text;
  const auto show = [&](int eth0, int eth1) {
    text = Format("eth0: {} 1 0 0 0 0 0 0 1 1 0 0\n", eth0);
    if (eth1 >= 0) text += Format("eth1: {} 1 0 0 0 0 0 0 1 1 0 0\n", eth1);
    root.Write("/proc/net/dev", text);
  };
  constexpr auto kReceive = "network_receive_bytes_per_second";
  constexpr auto kLink = "network_link_bytes_per_second";
  root.Write("/sys/class/net/eth1/speed", "10000\n");
  show(1000, 1000);
  VanishingBench network(MakeNetworkCollector, root);
  ASSERT_TRUE(network.At(0s));
  EXPECT_DOUBLE_EQ(network.row.At(kLink, "eth1"), 1.25e9);
  TakeAway(root, "/sys/class/net/eth1", "/speed");
  show(1500, -1);
  ASSERT_TRUE(network.At(1s));
  EXPECT_DOUBLE_EQ(network.row.At(kReceive, "eth0"), 500);
  EXPECT_TRUE(network.Missing(kReceive, "eth1"));

  root.Write("/sys/class/net/eth1/speed", "25000\n");
  show(1500, 900'000);
  ASSERT_TRUE(network.At(30s));
  EXPECT_TRUE(network.Missing(kReceive, "eth1"));
  show(1500, 900'300);
  ASSERT_TRUE(network.At(31s));
  EXPECT_DOUBLE_EQ(network.row.At(kReceive, "eth1"), 300);
  ASSERT_TRUE(network.At(60s));
  EXPECT_DOUBLE_EQ(network.row.At(kLink, "eth1"), 3.125e9);
}

}  // namespace
}  // namespace stepscope
