// Ticks that are far apart: a frame of them becomes far more blocks than fit into memory at once.

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <span>
#include <thread>

#include "core/base/text.h"
#include "server/compact/new_blocks.h"
#include "server/store/rollups/job_rollups.h"
#include "server/store/ticks/join_ticks.h"
#include "server/store/ticks/ticks.h"
#include "tests/server/compact/compact_fixture.h"
#include "tests/support/read_all.h"

namespace stepscope {
namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;  // which takes memory of its own
#else
constexpr bool kSanitized = false;
#endif
constexpr std::int64_t kSparseBegin = 1'795'205'400'000'000;  // begin of a block window

// Makes a tick in each block window; each metric has a value in each, its number and the tick's.
// With several devices to a metric, as many fewer metrics.
TickTable SparseTicks(std::size_t ticks, std::size_t metrics, std::size_t devices = 1) {
  TickTable table;
  for (std::size_t row = 0; row < ticks; ++row) {
    table.at_us.push_back(kSparseBegin + static_cast<std::int64_t>(row) * kBlockWindowUs);
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
  bool SomebodyWaits() {
    const auto found = watch_->Query(
        "select count(*) from pg_stat_activity "
        "where datname = current_database() and wait_event_type = 'Lock'");
    return found->Int(0, 0) > 0;
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
  std::unique_ptr<Connection> watch_ = database_.Connect();
};

// 12,200 blocks, so the rows of some rollups are written several times in one transaction.
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

// Retention goes by window, batches go by metric: while it waits for the block of a later window,
// the compactor waits for that of an earlier one, which it has removed.
TEST_F(SparseTicksTest, DoNotMeetWhoRemovesBlocksInAnotherOrder) {
  frames_.StoreTicks(SparseTicks(20, 600));
  ASSERT_TRUE(CompactNode(*connection_, frames_.job_id(), frames_.node_id()));
  frames_.StoreTicks(SparseTicks(20, 600));
  const auto other = database_.Connect();
  const auto remove = [&](std::int64_t row, std::size_t metric) {
    return other->Query(Format("delete from blocks where window_us = {} and metric = 'user.m{}'",
                               kSparseBegin + row * kBlockWindowUs, 100'000 + metric));
  };
  ASSERT_TRUE(other->Execute("begin; set lock_timeout = '20s'"));
  ASSERT_TRUE(remove(0, 599));  // a block of the last batch
  std::jthread compactor([&] {
    const auto done = CompactNode(*connection_, frames_.job_id(), frames_.node_id());
    EXPECT_TRUE(done) << done.error().message;
  });
  ASSERT_TRUE(Eventually([&] { return SomebodyWaits(); }));
  const auto removed = remove(1, 0);  // a block of the first batch, of a later window
  EXPECT_TRUE(removed) << removed.error().message;
  ASSERT_TRUE(other->Execute("commit"));
  compactor.join();
  EXPECT_EQ(Count("blocks"), 20 * 601);
}

// A body of samples of one metric has the schema that a block has.
TEST_F(SparseTicksTest, LeaveTheirSchemasToOthersWhileTheyAreWritten) {
  const TickTable ticks = SparseTicks(20, 600);
  frames_.StoreTicks(ticks);
  const auto holder = database_.Connect(), schemas = database_.Connect();
  ASSERT_TRUE(holder->Execute("begin"));
  ASSERT_TRUE(MarkStale(*holder, frames_.job_id(),
                        std::vector<RollupKey>{{600'000'000, ticks.series.back().metric,
                                                ChunkOf(kSparseBegin, 600'000'000)}}));
  std::jthread compactor([&] {
    const auto done = CompactNode(*connection_, frames_.job_id(), frames_.node_id(), schemas.get());
    EXPECT_TRUE(done) << done.error().message;
  });
  EXPECT_TRUE(Eventually([&] { return SomebodyWaits(); }, std::chrono::seconds(180)))
      << "in the last lot";
  const EncodedTable first = EncodeTicks({{ticks.at_us[0]}, {ticks.series[0]}, {{0, {1}, {}}}});
  const NewSchema schema{frames_.job_id(), first.schema_hash, first.schema};
  EXPECT_TRUE(watch_->Execute("set lock_timeout = '1s'"));
  const auto saved = watch_->QueryByKey(InsertSchemas(std::span(&schema, 1)));
  EXPECT_TRUE(saved) << saved.error().message;
  EXPECT_EQ(watch_->Query("select count(*) from blocks")->Int(0, 0), 0) << "it still writes";
  EXPECT_TRUE(holder->Execute("rollback"));
  compactor.join();
  EXPECT_EQ(Count("blocks"), 20 * 601);
}

// Nodes of a job meet at the rollups of the job: one in batches, with the second hour of a metric
// and then the first of the next one; one at once, with the first of both.
TEST_F(SparseTicksTest, OfANodeInLotsDoNotMeetThoseOfAnotherAtOnce) {
  const std::int64_t day_us = ChunkOf(kSparseBegin, 600'000'000), hour_us = 3'600'000'000;
  const auto mark = [&](Connection& connection, const std::vector<RollupKey>& keys) {
    const Status marked = MarkStale(connection, frames_.job_id(), keys);
    EXPECT_TRUE(marked) << marked.error().message;
  };
  const auto other = database_.Connect();
  ASSERT_TRUE(connection_->Execute("begin"));
  mark(*connection_, {{10'000'000, "a", day_us + hour_us}, {60'000'000, "a", day_us}});
  std::jthread at_once([&] {
    ASSERT_TRUE(other->Execute("begin"));
    mark(*other, {{10'000'000, "a", day_us}, {10'000'000, "b", day_us}, {60'000'000, "a", day_us}});
    ASSERT_TRUE(other->Execute("commit"));
  });
  ASSERT_TRUE(Eventually([&] { return SomebodyWaits(); }));
  mark(*connection_, {{10'000'000, "b", day_us}});
  ASSERT_TRUE(connection_->Execute("commit"));
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
  frames_.StoreTicks(SparseTicks(100, 2'000, 1'000));  // many devices
  const std::int64_t before_kb = PeakKb();
  for (int turn = 0; turn < 2; ++turn) {
    ASSERT_TRUE(CompactNode(*connection_, frames_.job_id(), frames_.node_id()));
  }
  EXPECT_EQ(Count("frames"), 0);
  EXPECT_TRUE(kSanitized || PeakKb() - before_kb < 64 * 1024) << PeakKb() - before_kb;
}

}  // namespace
}  // namespace stepscope
