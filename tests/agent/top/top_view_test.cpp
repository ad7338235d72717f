#include "agent/top/top_view.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(TopView, ListsAGpuWhateverItTells) {
  TickRow row;
  row.Set(row.Add("gpu_util_percent", "card1"), 40);
  row.Set(row.Add("gpu_memory_total_bytes", "card1"), 16e9);
  row.Set(row.Add("gpu_memory_used_bytes", "gpu0"), 5e9);
  row.Set(row.Add("gpu_power_watts", "card1"), 90);
  const TopView view = ViewOf(row, "node-1", Time());

  ASSERT_EQ(view.gpus.size(), 2u);
  EXPECT_EQ(view.gpus[0].name, "card1") << "as the files of an Intel card tell";
  EXPECT_EQ(view.gpus[0].percent, 40);
  EXPECT_EQ(view.gpus[0].watts, 90);
  EXPECT_EQ(view.gpus[1].name, "gpu0");
}

TEST(TopView, OfANodeWithoutGpusHasNone) {
  TickRow row;
  row.Set(row.Add("process_gpu_memory_bytes", "rank0"), 1);
  row.Set(row.Add("disk_read_bytes_per_second", "sda"), 7);
  const TopView view = ViewOf(row, "node-1", Time());

  EXPECT_TRUE(view.gpus.empty());
  ASSERT_EQ(view.disks.size(), 1u);
  EXPECT_EQ(view.disks[0].in, 7);
}

}  // namespace
}  // namespace stepscope
