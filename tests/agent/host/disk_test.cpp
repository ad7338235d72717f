#include "agent/host/disk.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/support/collector_bench.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeRoot;

using DiskBench = test::CollectorBench;

// Only the names in /proc/diskstats count.
void ShowDisk(const FakeRoot& root, const std::string& device, std::string_view figures) {
  root.Write(Format("/sys/block/{}/stat", device), Format("{}\n", figures));
}

TEST(DiskCollector, CountsWholeDevicesWithHardwareOnly) {
  FakeRoot root;
  root.MakeFolder("/sys/block/sda/device");
  root.Write("/proc/diskstats", "8 0 sda 1\n8 1 sda1 1\n7 0 loop0 1\n253 0 dm-0 1\n");
  const auto stats = [&](int read, int write, int busy) {
    for (const char* device : {"sda", "sda/sda1", "loop0", "dm-0"}) {
      ShowDisk(root, device, Format("  5 0 {} 1 5 0 {} 1 0 {} 9 1 2", read, write, busy));
    }
  };
  stats(0, 0, 0);
  DiskBench disk(MakeDiskCollector, root);
  ASSERT_TRUE(disk.At(0s));
  stats(200, 100, 250);
  ASSERT_TRUE(disk.At(500ms));
  EXPECT_DOUBLE_EQ(disk.row.At("disk_read_bytes_per_second", "sda"), 204800);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_write_bytes_per_second", "sda"), 102400);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_busy_percent", "sda"), 50);
  for (const SeriesName& series : disk.row.series()) EXPECT_EQ(series.device, "sda");
}

TEST(DiskCollector, TellsHowManyRequestsThereWereAndHowLongOneTook) {
  FakeRoot root;
  root.MakeFolder("/sys/block/sda/device");
  root.Write("/proc/diskstats", "8 0 sda\n");
  ShowDisk(root, "sda", "100 0 9 500 10 0 9 50 0 900 1000");
  DiskBench disk(MakeDiskCollector, root);
  ASSERT_TRUE(disk.At(0s));
  ShowDisk(root, "sda", "140 0 9 600 10 0 9 50 3 950 3500");
  ASSERT_TRUE(disk.At(500ms));
  EXPECT_DOUBLE_EQ(disk.row.At("disk_reads_per_second", "sda"), 80);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_read_wait_seconds", "sda"), 0.0025);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_writes_per_second", "sda"), 0);
  EXPECT_TRUE(disk.Missing("disk_write_wait_seconds", "sda"));  // there was no write
  EXPECT_DOUBLE_EQ(disk.row.At("disk_queue", "sda"), 5);
}

TEST(DiskCollector, LeavesOutADeviceThatWasNeverUsed) {
  FakeRoot root;
  root.MakeFolder("/sys/block/sr0/device");
  root.Write("/proc/diskstats", "11 0 sr0\n");
  ShowDisk(root, "sr0", "0 0 0 0 0 0 0 0 0 0 0");
  DiskBench disk(MakeDiskCollector, root);
  ASSERT_TRUE(disk.At(0s));
  ASSERT_TRUE(disk.At(1s));
  EXPECT_EQ(disk.row.size(), 0u);
  ShowDisk(root, "sr0", "1 0 8 2 0 0 0 0 0 0 0");
  ASSERT_TRUE(disk.At(2s));
  EXPECT_DOUBLE_EQ(disk.row.At("disk_read_bytes_per_second", "sr0"), 4096);
}

TEST(DiskCollector, UsesTheExactTimeBetweenReadings) {
  FakeRoot root;
  root.MakeFolder("/sys/block/cciss!c0d0/device");
  root.Write("/proc/diskstats", "104 0 cciss/c0d0\n");
  ShowDisk(root, "cciss!c0d0", "0 0 0 0 0 0 0 0 0 0 0");
  DiskBench disk(MakeDiskCollector, root);
  ASSERT_TRUE(disk.At(0s));
  ShowDisk(root, "cciss!c0d0", "0 0 1000 0 0 0 0 0 0 2000 0");
  ASSERT_TRUE(disk.At(512ms));
  EXPECT_DOUBLE_EQ(disk.row.At("disk_read_bytes_per_second", "cciss/c0d0"), 1'000'000);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_busy_percent", "cciss/c0d0"), 100);
}

TEST(DiskCollector, FindsADiskThatComesLater) {
  FakeRoot root;
  root.MakeFolder("/sys/block/sda/device");
  root.MakeFolder("/sys/block/sdb/device");
  root.Write("/proc/diskstats", "8 0 sda\n");
  ShowDisk(root, "sda", "0 0 8 0 0 0 0 0 0 0 0");
  ShowDisk(root, "sdb", "0 0 8 0 0 0 0 0 0 0 0");
  DiskBench disk(MakeDiskCollector, root);
  ASSERT_TRUE(disk.At(0s));
  root.Write("/proc/diskstats", "8 0 sda\n8 16 sdb\n");
  ASSERT_TRUE(disk.At(10s));
  EXPECT_TRUE(disk.Missing("disk_read_bytes_per_second", "sdb"));
  ASSERT_TRUE(disk.At(30s));
  ShowDisk(root, "sdb", "0 0 18 0 0 0 0 0 0 0 0");
  ASSERT_TRUE(disk.At(31s));
  EXPECT_DOUBLE_EQ(disk.row.At("disk_read_bytes_per_second", "sdb"), 5120);
  EXPECT_DOUBLE_EQ(disk.row.At("disk_read_bytes_per_second", "sda"), 0);
}

TEST(DiskCollector, PassesOverBrokenFiles) {
  for (const char* text : {"", "8 0", "1 2 3", "a b c d e f g h i j k"}) {
    EXPECT_FALSE(ParseDiskStat(text)) << text;
  }
}

}  // namespace
}  // namespace stepscope
