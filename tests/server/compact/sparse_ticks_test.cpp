// Ticks that are far apart: a frame of them becomes far more blocks than fit into memory at once.

#include <algorithm>
#include <fstream>
#include <map>
#include <set>

#include "server/compact/new_blocks.h"
#include "server/store/series.h"
#include "tests/server/compact/compact_fixture.h"

namespace stepscope {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // which takes memory of its own
#else
constexpr bool kSanitized = false;
#endif
constexpr std::int64_t kBegin = 1'795'205'400'000'000;  // the begin of a window

// A tick in each window; each metric has a value in each, its number and the tick's. With several
// devices to a metric, as many fewer metrics.
TickTable SparseTicks(std::size_t ticks, std::size_t metrics, std::size_t devices = 1) {
  TickTable table;
  for (std::size_t row = 0; row < ticks; ++row) {
    table.at_us.push_back(kBegin + static_cast<std::int64_t>(row) * kWindowUs);
  }
  for (std::size_t i = 0; i < metrics; ++i) {
    table.series.push_back({"user.m" + std::to_string(100'000 + i / devices),
                            devices > 1 ? std::to_string(10'000 + i % devices) : ""});
    Column& column = table.columns.emplace_back();
    for (std::size_t row = 0; row < ticks; ++row) {
      column.values.push_back(static_cast<std::int64_t>(i * 1'000 + row));
    }
  }
  return table;
}

TEST(CutBlocks, GivesSoManyAtATimeAndAllOfThem) {
  std::vector<std::size_t> sizes;
  std::set<BlockKey> keys;
  const auto take = [&](const std::vector<StoredBlock>& blocks) -> Status {
    sizes.push_back(blocks.size());
    for (const StoredBlock& block : blocks) keys.insert(block.key);
    return {};
  };
  ASSERT_TRUE(CutBlocks(SparseTicks(10, 4), false, 15, take));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{15, 15, 15, 5}));
  EXPECT_EQ(keys.size(), 10u * 5u) << "windows times metrics, with the one of all ticks";
}

TEST(CutBlocks, CountsTheSeriesOfBlocksAndGivesAtLeastOne) {
  std::vector<std::size_t> sizes;
  const auto take = [&](const std::vector<StoredBlock>& blocks) -> Status {
    sizes.push_back(blocks.size());
    return {};
  };
  ASSERT_TRUE(CutBlocks(SparseTicks(4, 6, 3), false, 7, take));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{5, 2, 2, 2, 1})) << "4 of times, 8 of three devices";
  sizes.clear();
  ASSERT_TRUE(CutBlocks(SparseTicks(2, 3, 3), false, 1, take));
  EXPECT_EQ(sizes, (std::vector<std::size_t>{1, 1, 1, 1}));
}

TEST(CutBlocks, EndsWithTheFirstError) {
  int calls = 0;
  const auto fail = [&](const std::vector<StoredBlock>&) -> Status {
    ++calls;
    return Internal("no");
  };
  EXPECT_FALSE(CutBlocks(SparseTicks(10, 4), false, 15, fail));
  EXPECT_EQ(calls, 1);
}

class SparseTicksTest : public CompactTest {
 protected:
  SparseTicksTest() : frames_(*connection_) {}

  TickTable Read() {
    const Result<TickTable> table = ReadTicks(
        *connection_, {.job_id = frames_.job_id(), .node_id = frames_.node_id(), .filter = {}});
    EXPECT_TRUE(table) << table.error().message;
    return table ? *table : TickTable{};
  }
  std::map<std::string, std::string> Rollups(std::int64_t bin_us) {
    std::map<std::string, std::vector<TickTable>> bins;
    const auto rows = LoadRollups(
        *connection_, {.job_id = frames_.job_id(), .node_ids = {}, .bin_us = bin_us, .filter = {}});
    for (const NodeRollup& row : rows.value()) bins[row.metric].push_back(row.bins);
    std::map<std::string, std::string> encoded;
    for (auto& [metric, tables] : bins)
      encoded[metric] = EncodeTicks(JoinTicks(tables, {})).payload;
    return encoded;
  }

  JobFrames frames_;
};

// 12,200 blocks, so the rows of some rollups are written in several turns of one transaction.
TEST_F(SparseTicksTest, OfAFrameAreAllKeptInOneTransaction) {
  const TickTable ticks = SparseTicks(200, 60);
  frames_.StoreTicks(ticks);
  const TickTable before = Read();
  const Result<Compacted> done = CompactNode(*connection_, frames_.job_id(), frames_.node_id());
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->frames, 1u);
  EXPECT_EQ(done->blocks, 200u * 61u);
  EXPECT_EQ(Count("frames"), 0);
  EXPECT_EQ(Count("blocks"), 200 * 61);
  EXPECT_EQ(EncodeTicks(Read()).payload, EncodeTicks(before).payload);
  for (const RollupLevel& level : kRollupLevels) {
    const auto rollups = Rollups(level.bin_us);
    ASSERT_EQ(rollups.size(), 60u);
    for (std::size_t i = 0; i < 60; ++i) {
      const TickTable one{ticks.at_us, {ticks.series[i]}, {ticks.columns[i]}};
      EXPECT_EQ(rollups.at(ticks.series[i].metric), EncodeTicks(RollUp(one, level.bin_us)).payload);
    }
  }
}

// An error in the middle leaves the frame, and nothing of what was written before it.
TEST_F(SparseTicksTest, StayAFrameWhenALaterPieceFails) {
  frames_.StoreTicks(SparseTicks(200, 60));
  ASSERT_TRUE(connection_->Execute(
      "alter table blocks add constraint no check (metric <> 'user.m100059')"));
  EXPECT_FALSE(CompactNode(*connection_, frames_.job_id(), frames_.node_id()));
  EXPECT_EQ(Count("frames"), 1);
  EXPECT_EQ(Count("blocks") + Count("rollups"), 0);
}

// The most memory that the process ever had.
std::int64_t PeakKb() {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    std::int64_t kb = 0;
    if (word == "VmHWM:" && status >> kb) return kb;
  }
  return 0;
}

TEST_F(SparseTicksTest, TakeNoMoreMemoryTheMoreBlocksTheyMake) {
  frames_.StoreTicks(SparseTicks(100, 400));           // 40,100 blocks
  frames_.StoreTicks(SparseTicks(100, 2'000, 1'000));  // of many devices
  const std::int64_t before_kb = PeakKb();
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_TRUE(CompactNode(*connection_, frames_.job_id(), frames_.node_id()));
  }
  EXPECT_EQ(Count("frames"), 0);
  EXPECT_TRUE(kSanitized || PeakKb() - before_kb < 64 * 1024) << PeakKb() - before_kb;
}

}  // namespace
}  // namespace stepscope
