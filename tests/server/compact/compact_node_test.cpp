#include "server/compact/compact_node.h"

#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

#include "server/compact/compactor.h"
#include "server/compact/transaction_limits.h"
#include "server/store/rollups/rollups.h"
#include "server/store/ticks/blocks.h"
#include "server/store/ticks/join_ticks.h"
#include "server/store/ticks/node_samples.h"
#include "server/store/ticks/ticks.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"
#include "tests/support/read_all.h"

namespace stepscope {
namespace {

constexpr std::int64_t kNodeBegin = 1'795'205'400'000'000;  // begin of a block window

class CompactNodeTest : public ::testing::Test {
 protected:
  CompactNodeTest() : connection_(database_.Connect()), frames_(*connection_) {}

  Compacted Compact() {
    Result<Compacted> done = CompactNode(*connection_, frames_.job_id(), frames_.node_id());
    EXPECT_TRUE(done) << done.error().message;
    return done ? *done : Compacted{};
  }
  TickTable Read(Connection& connection, TickFilter filter = {}) {
    const Result<TickTable> table = ReadTicks(
        connection,
        {.job_id = frames_.job_id(), .node_id = frames_.node_id(), .filter = std::move(filter)});
    EXPECT_TRUE(table) << table.error().message;
    return table ? *table : TickTable{};
  }
  TickTable Read(TickFilter filter = {}) { return Read(*connection_, std::move(filter)); }
  std::int64_t Count(const std::string& table) {
    return connection_->Query("select count(*) from " + table)->Int(0, 0);
  }
  // Makes ticks with two decimals, of three devices that are now and then missing.
  TickTable RandomTicks(std::int64_t from_us, std::size_t rows) {
    TickTable ticks{{}, {{"user.a", ""}, {"user.b", "0"}, {"user.b", "1"}}, {}};
    ticks.columns.assign(3, {.scale = 2, .values = {}, .present = {}});
    for (std::size_t row = 0; row < rows; ++row) {
      ticks.at_us.push_back(from_us + static_cast<std::int64_t>(row) * 500'000);
      for (Column& column : ticks.columns) {
        column.present.push_back(dice_() % 8 != 0);
        column.values.push_back(column.present.back() ? std::int64_t(dice_() % 20'000) - 5'000 : 0);
      }
    }
    return ticks;
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  JobFrames frames_;
  std::mt19937 dice_{11};
};

void ExpectEqual(const TickTable& a, const TickTable& b) {
  ASSERT_EQ(a.at_us, b.at_us);
  ASSERT_EQ(a.series, b.series);
  for (std::size_t i = 0; i < a.columns.size(); ++i) {
    ASSERT_EQ(a.columns[i].scale, b.columns[i].scale);
    for (std::size_t row = 0; row < a.at_us.size(); ++row) {
      ASSERT_EQ(a.columns[i].Has(row), b.columns[i].Has(row)) << i << " " << row;
      ASSERT_EQ(a.columns[i].values[row], b.columns[i].values[row]) << i << " " << row;
    }
  }
}

TEST_F(CompactNodeTest, ReadersSeeTheSameBeforeAndAfter) {
  for (std::int64_t frame = 0; frame < 900; ++frame) {
    frames_.StoreTicks(RandomTicks(kNodeBegin + 1'000'000 + frame * 2'000'000, 4));
  }
  const TickTable before = Read(), before_b = Read({{"user.b"}, "1"});
  const Compacted done = Compact();
  EXPECT_EQ(done.frames, 900u);
  EXPECT_EQ(done.blocks, 3u * 4u) << "windows times metrics, with the one of all ticks";
  EXPECT_EQ(Count("frames"), 0);
  ExpectEqual(Read(), before);
  ExpectEqual(Read({{"user.b"}, "1"}), before_b);
}

TEST_F(CompactNodeTest, LateFramesFindTheirBlocks) {
  for (std::int64_t frame = 0; frame < 400; ++frame) {
    if (frame % 3 != 0) frames_.StoreTicks(RandomTicks(kNodeBegin + frame * 2'000'000, 4));
  }
  Compact();
  for (std::int64_t frame = 0; frame < 400; frame += 3) {
    frames_.StoreTicks(RandomTicks(kNodeBegin + frame * 2'000'000, 4));
  }
  const TickTable between = Read();
  EXPECT_EQ(between.at_us.size(), 1'600u);
  Compact();
  ExpectEqual(Read(), between);
  EXPECT_EQ(Count("blocks"), 2 * 3);
}

TEST_F(CompactNodeTest, AFrameMayStraddleWindowsAndLieInTheFuture) {
  frames_.StoreTicks(RandomTicks(kNodeBegin - 2'000'000, 8));
  frames_.StoreTicks(RandomTicks(kNodeBegin + 70LL * 365 * 86'400 * 1'000'000, 4));
  const TickTable before = Read();
  Compact();
  EXPECT_EQ(Count("frames"), 0);
  ExpectEqual(Read(), before);
}

TEST_F(CompactNodeTest, SlicesTogetherGiveTheWholeSeries) {
  for (std::int64_t frame = 0; frame < 900; ++frame) {
    frames_.StoreTicks(RandomTicks(kNodeBegin + frame * 20'000'000, 4));
    if (frame == 700) Compact();
  }
  const TickTable whole = Read();
  for (const std::size_t most : {7u, 500u, 100'000u}) {
    std::vector<std::int64_t> seen;
    for (TickQuery query{.job_id = frames_.job_id(),
                   .node_id = frames_.node_id(),
                   .filter = {},
                   .most_rows = most};
         ;) {
      const Result<TickTable> table = ReadTicks(*connection_, query);
      ASSERT_TRUE(table) << table.error().message;
      seen.insert(seen.end(), table->at_us.begin(), table->at_us.end());
      if (table->complete) break;
      query.after_us = table->at_us.back();
    }
    EXPECT_EQ(seen, whole.at_us) << most;
  }
}

// Values at the ends of int64 and a sum beyond them.
TEST_F(CompactNodeTest, ExtremeValuesStayAsTheyAre) {
  const std::vector<std::int64_t> at_us{kNodeBegin, kNodeBegin + 1, kNodeBegin + 2};
  frames_.StoreTicks({at_us, {{"user.a", ""}}, {{0, {INT64_MAX, INT64_MIN, INT64_MAX}, {}}}});
  frames_.StoreTicks({at_us, {{"user.b", ""}}, {{18, {INT64_MAX, INT64_MAX, 1}, {}}}});
  const TickTable before = Read();
  Compact();
  ExpectEqual(Read(), before);
}

// Makes one tick of so many devices of a metric.
TickTable DevicesAt(std::int64_t at_us, const std::string& name, int devices) {
  TickTable ticks{{at_us}, {}, {}};
  for (int i = 0; i < devices; ++i) ticks.series.push_back({"user.a", name + std::to_string(i)});
  ticks.columns.assign(ticks.series.size(), {0, {1}, {}});
  return ticks;
}

TEST_F(CompactNodeTest, TheSameManyDevicesFindRoomAtEachTurn) {
  for (int turn = 0; turn < 3; ++turn) {
    frames_.StoreTicks(DevicesAt(kNodeBegin + turn, "a", 12'000));
    EXPECT_EQ(Compact().rows_left_out, 0u);
  }
  const TickTable read = Read();
  EXPECT_EQ(read.at_us.size(), 3u);
  EXPECT_EQ(read.series.size(), 12'000u);
}

TEST_F(CompactNodeTest, DevicesThatAreTooManyForABlockAreCountedAndTheOthersKept) {
  frames_.StoreTicks(DevicesAt(kNodeBegin, "a", 15'000));
  frames_.StoreTicks(DevicesAt(kNodeBegin + 1, "b", 15'000));
  EXPECT_EQ(Compact().rows_left_out, 2u) << "the block is one of both ticks";
  EXPECT_EQ(Read().series.size(), 20'000u);
  frames_.StoreTicks(DevicesAt(kNodeBegin + 2, "a", 15'000));
  frames_.StoreTicks(DevicesAt(kNodeBegin + 3, "c", 10));
  EXPECT_EQ(Compact().rows_left_out, 2u);
  const TickTable read = Read();
  EXPECT_EQ(read.series.size(), 20'000u);
  EXPECT_EQ(read.at_us.size(), 4u) << "also the tick whose devices found no room";
}

// A loss with nine decimals, and one that has left the ground: together they fit at six.
TEST_F(CompactNodeTest, ALargeValueCostsASmallOneDigitsAndIsNotCut) {
  frames_.StoreTicks({{kNodeBegin}, {{"user.loss", ""}}, {{9, {2'302'585'093}, {}}}});
  frames_.StoreTicks({{kNodeBegin + 1}, {{"user.loss", ""}}, {{0, {1'500'000'000'000}, {}}}});
  const auto expect_both = [&] {
    const Column column = Read().columns.at(0);
    EXPECT_EQ(column.At(0), 2.302585);
    EXPECT_EQ(column.At(1), 1.5e12);
  };
  expect_both();
  Compact();
  expect_both();
  frames_.StoreTicks({{kNodeBegin + 2}, {{"user.loss", ""}}, {{9, {2'302'585'093}, {}}}});
  for (int i = 3; i < 20; ++i) {
    frames_.StoreTicks({{kNodeBegin + i}, {{"user.loss", ""}}, {{0, {1'500'000'000'000}, {}}}});
  }
  Compact();
  expect_both();
  const auto rollups = LoadRollups(
      *connection_,
      {.job_id = frames_.job_id(), .node_ids = {}, .bin_us = 600'000'000, .filter = {}});
  ASSERT_TRUE(rollups && rollups->size() == 1);
  const RollupDevice device = DevicesOf(rollups->front().bins).at(0);
  EXPECT_EQ(device.least->At(0), 2.302585);
  EXPECT_EQ(device.greatest->At(0), 1.5e12);
  EXPECT_NEAR(device.sum->At(0), 18 * 1.5e12, 10) << "beyond int64 at the scale of the samples";
  ReadBudget budget;
  const auto samples =
      ReadSamples(*connection_,
                  {.job_id = frames_.job_id(), .node_id = frames_.node_id(), .filter = {}}, budget);
  ASSERT_TRUE(samples && samples->size() == 1);
  EXPECT_EQ(samples->front().scale, 6);
  EXPECT_EQ(samples->front().values.at(1), 1'500'000'000'000'000'000);
}

TEST_F(CompactNodeTest, RollupsAreWhatTheSamplesSay) {
  for (int round = 0; round < 3; ++round) {
    for (std::int64_t frame = round; frame < 1'500; frame += 3) {
      frames_.StoreTicks(RandomTicks(kNodeBegin + frame * 5'000'000, 4));
    }
    Compact();
  }
  const TickTable all = Read({{"user.b"}, {}});
  for (const RollupLevel& level : kRollupLevels) {
    const Result<std::vector<NodeRollup>> rollups =
        LoadRollups(*connection_, {.job_id = frames_.job_id(),
                                   .node_ids = {},
                                   .bin_us = level.bin_us,
                                   .filter = {{"user.b"}, {}}});
    ASSERT_TRUE(rollups) << rollups.error().message;
    std::vector<TickTable> rows;
    for (const NodeRollup& rollup : *rollups) rows.push_back(rollup.bins);
    ExpectEqual(JoinTicks(rows, {}), RollUp(all, level.bin_us));
  }
}

// The number of ticks that rollups and frames hold together, as a chart adds them up.
std::int64_t CountInSnapshot(Connection& connection, std::int64_t job_id, std::int64_t bin_us) {
  const Result<Transaction> snapshot = Transaction::Snapshot(connection);
  const auto rollups =
      LoadRollups(connection, {.job_id = job_id, .node_ids = {}, .bin_us = bin_us, .filter = {}});
  const auto fresh = ReadFreshTicks(connection, {.job_id = job_id, .filter = {}});
  if (!snapshot || !rollups || !fresh) return -1;
  std::int64_t count = 0;
  for (const NodeRollup& rollup : *rollups) {
    for (const std::int64_t ticks : rollup.bins.columns.at(0).values) count += ticks;
  }
  for (const NodeTicks& node : *fresh) count += std::int64_t(node.ticks.at_us.size());
  return count;
}

TEST_F(CompactNodeTest, WhoReadsWhileItCompactsSeesEachTickOnce) {
  constexpr std::int64_t kTicks = 3'000;
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < kTicks; ++i) expected.push_back(kNodeBegin + i * 500'000);
  std::jthread reader([&](const std::stop_token& stop) {
    const auto own = database_.Connect();
    std::int64_t counted = 0;
    while (!stop.stop_requested()) {
      const std::vector<std::int64_t> seen = Read(*own).at_us;
      ASSERT_LE(seen.size(), expected.size());
      ASSERT_TRUE(std::equal(seen.begin(), seen.end(), expected.begin())) << seen.size();
      const std::int64_t count = CountInSnapshot(*own, frames_.job_id(), 10'000'000);
      ASSERT_GE(count, std::max<std::int64_t>(counted, std::int64_t(seen.size())));
      ASSERT_LE(count, kTicks);
      counted = count;
    }
  });
  for (std::int64_t from = 0; from < kTicks; from += 5) {
    frames_.StoreTicks({"user.a", ""}, {expected.begin() + from, expected.begin() + from + 5});
    if (from % 100 == 0) Compact();
  }
  reader.request_stop();
  reader.join();
  Compact();
  EXPECT_EQ(Read().at_us, expected);
  EXPECT_EQ(CountInSnapshot(*connection_, frames_.job_id(), 600'000'000), kTicks);
}

TEST_F(CompactNodeTest, TwoCompactorsAtOneNodeLoseAndDoubleNothing) {
  for (std::int64_t frame = 0; frame < 300; ++frame) {
    frames_.StoreTicks(RandomTicks(kNodeBegin + frame * 2'000'000, 4));
  }
  const TickTable before = Read();
  std::vector<std::jthread> threads;
  std::atomic<int> took = 0;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      const auto own = database_.Connect();
      const Result<Compacted> done = CompactNode(*own, frames_.job_id(), frames_.node_id());
      if (done && done->frames > 0) ++took;
      EXPECT_TRUE(done || done.error().code == Code::kConflict) << done.error().message;
    });
  }
  threads.clear();
  EXPECT_EQ(took, 1);
  ExpectEqual(Read(), before);
}

// On a busy machine it takes longer to encode than a session may be idle elsewhere.
TEST_F(CompactNodeTest, MayThinkLongerThanOtherTransactionsButNotLongerThanItsLease) {
  const std::string idle =
      "select current_setting('idle_in_transaction_session_timeout')::interval";
  const std::string seconds = "select extract(epoch from (" + idle + "))::bigint";
  const Result<Transaction> transaction = Transaction::Begin(*connection_);
  const std::int64_t others_s = connection_->Query(seconds)->Int(0, 0);
  ASSERT_TRUE(connection_->Execute(kCompactLimits));
  const std::int64_t ours_s = connection_->Query(seconds)->Int(0, 0);
  EXPECT_GT(ours_s, others_s);
  EXPECT_LT(ours_s, CompactorOptions{}.lease / 1s);
}

}  // namespace
}  // namespace stepscope
