// Ticks of nodes with so many series that they are read in batches.

#include "server/store/ticks/tick_batches.h"

#include <gtest/gtest.h>

#include <numeric>
#include <utility>

#include "core/base/text.h"
#include "server/store/ticks/blocks.h"
#include "server/store/ticks/join_ticks.h"
#include "server/store/ticks/ticks.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBatchSecondUs = 1'000'000;
using Seconds = std::vector<std::int64_t>;

Seconds From(std::int64_t first, std::size_t count) {
  Seconds seconds(count);
  std::iota(seconds.begin(), seconds.end(), first);
  return seconds;
}

Seconds InMicros(Seconds seconds) {
  for (std::int64_t& second : seconds) second *= kBatchSecondUs;
  return seconds;
}

SeriesName SeriesOf(std::size_t number) {
  return {Format("user.m{:05}", number), ""};
}

// The value of each series is the second.
class TickStretches : public ::testing::Test {
 protected:
  // Stores a row a second, as a frame that is not compacted yet.
  void StoreFrame(std::int64_t first, std::size_t rows, std::size_t series) {
    const Seconds seconds = From(first, rows);
    TickTable ticks{InMicros(seconds), {}, {}};
    for (std::size_t i = 0; i < series; ++i) {
      ticks.series.push_back(SeriesOf(i));
      ticks.columns.push_back({0, seconds, {}});
    }
    frames_.StoreTicks(ticks);
  }
  // Stores the block of each metric in a block window.
  void StoreBlocks(std::int64_t window, const Seconds& seconds, std::size_t series) {
    const std::int64_t window_us = window * kBlockWindowUs;
    const Seconds at_us = InMicros(seconds);
    std::vector<StoredBlock> blocks{{{window_us, kAllTicks}, false, {at_us, {}, {}}}};
    for (std::size_t i = 0; i < series; ++i) {
      const SeriesName name = SeriesOf(i);
      blocks.push_back(
          {{window_us, name.metric}, false, {at_us, {name}, {Column{0, seconds, {}}}}});
    }
    Save(blocks);
  }
  void Save(const std::vector<StoredBlock>& blocks) {
    const auto schemas = database_.Connect();
    ASSERT_TRUE(SaveBlocks(*connection_, *schemas, frames_.job_id(), frames_.node_id(), blocks));
  }
  TickQuery Query(std::int64_t until_second) const {
    return {.job_id = frames_.job_id(),
            .node_id = frames_.node_id(),
            .until_us = until_second * kBatchSecondUs,
            .filter = filter_};
  }
  Status Read(std::int64_t until_second, std::int64_t most_us = INT64_MAX) {
    rows_.clear();
    seconds_.clear();
    return ForEachTickBatch(*connection_, Query(until_second), most_us,
                            [this](const TickTable& table) {
                              rows_.push_back(table.at_us.size());
                              for (const std::int64_t at_us : table.at_us)
                                seconds_.push_back(at_us / kBatchSecondUs);
                              for (const Column& column : table.columns) {
                                EXPECT_TRUE(std::equal(column.values.begin(), column.values.end(),
                                                       seconds_.end() - std::ssize(table.at_us)));
                              }
                              return Status();
                            });
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
  JobFrames frames_{*connection_};
  TickFilter filter_;
  std::vector<std::size_t> rows_;  // rows of each batch
  Seconds seconds_;                // times of all batches
};

TEST_F(TickStretches, FewAreReadAtOnceAndManyInShorterStretchesEachInstantOnce) {
  for (const std::int64_t first : {1, 601, 1'201, 1'801}) StoreFrame(first, 600, 2'000);
  ASSERT_TRUE(Read(2'400));
  EXPECT_EQ(rows_, (std::vector<std::size_t>{1'199, 1'200, 1})) << "4.8 million values";
  EXPECT_EQ(seconds_, From(1, 2'400));
  filter_.metrics = {"user.m00007"};
  ASSERT_TRUE(Read(2'400));
  EXPECT_EQ(rows_, (std::vector<std::size_t>{2'400}));
  EXPECT_EQ(seconds_, From(1, 2'400));
  ASSERT_TRUE(Read(2'400, 700 * kBatchSecondUs));
  EXPECT_EQ(seconds_, From(1, 2'400));
}

TEST_F(TickStretches, BlocksToo) {
  for (std::int64_t window = 0; window < 5; ++window) {
    StoreBlocks(window, From(window * 600, 600), 1'000);  // twice as many with their times
  }
  StoreFrame(3'000, 50, 1'000);
  ASSERT_TRUE(Read(3'100));
  EXPECT_GT(rows_.size(), 1u);
  EXPECT_EQ(seconds_, From(1, 3'049));
  ASSERT_TRUE(Read(20'000));  // a range that is not read in one statement
  EXPECT_GT(rows_.size(), 1u);
  EXPECT_EQ(seconds_, From(1, 3'049));
  filter_.metrics = {"user.m00007"};
  ASSERT_TRUE(Read(3'100));
  EXPECT_EQ(rows_, (std::vector<std::size_t>{3'049}));
}

TEST_F(TickStretches, OfSeriesThatShareNoInstantNoneIsLost) {
  constexpr std::int64_t kSeries = 1'450;
  for (const std::int64_t window_us : {std::int64_t{0}, kBlockWindowUs}) {
    std::vector<StoredBlock> blocks;
    for (std::int64_t i = 0; i < kSeries; ++i) {
      const SeriesName name = SeriesOf(static_cast<std::size_t>(i));
      const std::int64_t at_us = window_us + 1 + i;
      blocks.push_back(
          {{window_us, name.metric}, false, {{at_us}, {name}, {Column{0, {at_us}, {}}}}});
    }
    Save(blocks);
  }
  std::size_t values = 0;
  ASSERT_TRUE(ForEachTickBatch(*connection_, Query(1'200), INT64_MAX, [&](const TickTable& table) {
    rows_.push_back(table.at_us.size());
    for (const Column& column : table.columns) {
      for (std::size_t row = 0; row < table.at_us.size(); ++row) {
        if (column.Has(row)) values += column.values[row] == table.at_us[row];
      }
    }
    return Status();
  }));
  EXPECT_GT(rows_.size(), 1u) << "at once they are 4.2 million";
  EXPECT_EQ(std::accumulate(rows_.begin(), rows_.end(), std::size_t{0}), 2 * kSeries);
  EXPECT_EQ(values, 2 * kSeries);
}

TEST_F(TickStretches, AWindowThatIsTooMuchIsRefusedAndWhatIsChosenOfItIsRead) {
  for (const std::int64_t first : {0, 100, 200, 300, 400}) StoreFrame(first, 200, 19'000);
  const Status read = Read(2'400);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, Code::kInvalid);
  EXPECT_NE(read.error().message.find("choose fewer metrics"), std::string::npos);
  EXPECT_TRUE(seconds_.empty());
  filter_.metrics = {"user.m18999"};
  EXPECT_TRUE(Read(2'400));
  EXPECT_EQ(seconds_, From(1, 599));
}

TEST_F(TickStretches, CenturiesWithoutTicksAreSoonRead) {
  constexpr std::int64_t kLast = 9'000'000'000'000;
  for (const std::int64_t first : {1, 601, 1'201, 1'801}) StoreFrame(first, 600, 2'000);
  StoreFrame(kLast, 1, 1);
  ASSERT_TRUE(Read(kLast));
  EXPECT_EQ(seconds_.size(), 2'401u);
  EXPECT_LT(rows_.size(), 60u);
}

TEST_F(TickStretches, AnErrorOfTheReaderEndsIt) {
  StoreFrame(1, 600, 1);
  int calls = 0;
  const Status read = ForEachTickBatch(
      *connection_, Query(600), 60 * kBatchSecondUs,
      [&](const TickTable&) { return ++calls == 3 ? Status(NotFound("enough")) : Status(); });
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().message, "enough");
  EXPECT_EQ(calls, 3);
}

// Each metric has a series at instants of its own: together they are the square of that.
TEST(JoinTicks, SeriesThatShareNoInstantBecomeNoMoreValuesThanAskedFor) {
  std::vector<TickTable> tables;
  for (std::int64_t i = 0; i < 100; ++i) {
    tables.push_back({{i}, {SeriesOf(static_cast<std::size_t>(i))}, {Column{0, {i}, {}}}});
  }
  const TickTable all = JoinTicks(tables, {});
  EXPECT_EQ(all.at_us, From(0, 100));
  EXPECT_EQ(all.columns.size(), 100u);
  EXPECT_EQ(JoinTicks(tables, {.most_values = 101 * 7}).at_us, From(0, 7));
  EXPECT_EQ(JoinTicks(tables, {.most_values = 1}).at_us, From(0, 1));
}

}  // namespace
}  // namespace stepscope
