
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "core/base/text.h"
#include "server/store/annotations/annotations.h"
#include "server/store/frames/stored_frames.h"
#include "server/store/jobs/job_facts.h"
#include "server/store/rollups/job_rollups.h"
#include "server/store/steps/steps.h"
#include "server/store/ticks/job_head.h"
#include "server/store/ticks/ticks.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"
#include "tests/support/read_all.h"

namespace stepscope {
namespace {

class Series : public ::testing::Test {
 protected:
  Series() : connection_(database_.Connect()), frames_(*connection_) {}

  void StoreTicks(const SeriesName& series, const std::vector<std::int64_t>& at_us,
                  std::uint8_t scale = 0) {
    frames_.StoreTicks(series, at_us, scale);
  }
  void StoreSteps(int rank, const std::vector<std::pair<std::int64_t, std::int64_t>>& steps) {
    frames_.StoreSteps(rank, steps);
  }
  TickTable Read(TickQuery query = {}) {
    query.job_id = frames_.job_id();
    query.node_id = frames_.node_id();
    auto table = ReadTicks(*connection_, query);
    EXPECT_TRUE(table) << table.error().message;
    if (!table) return {};
    if (query.most_rows < TickQuery().most_rows) return std::move(*table);
    // Short ranges are read in another way.
    const auto same = ReadTicks(*connection_, Shortened(query));
    EXPECT_TRUE(same && EncodeTicks(*same).payload == EncodeTicks(*table).payload &&
                same->series == table->series && same->complete == table->complete);
    return std::move(*table);
  }
  // Statements that make so many rows, [from, to) at a time: one for all takes too long.
  void ForPieces(std::size_t rows, auto statement) {
    constexpr std::size_t kPiece = 20'000;
    for (std::size_t from = 0; from < rows; from += kPiece) {
      ASSERT_TRUE(connection_->Execute(statement(from, std::min(from + kPiece, rows))));
    }
  }
  static TickQuery Shortened(TickQuery query) {
    query.until_us = std::min<std::int64_t>(query.until_us, 3'600'000'000);
    return query;
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  JobFrames frames_;
};

using SeriesTimes = std::vector<std::int64_t>;

// The compactor is far behind: a chart that lacks the newest frames would say nothing of it.
TEST_F(Series, MoreFramesThanAListHoldsAreSaidOrReadPieceByPiece) {
  StoreTicks({"user.a", ""}, {1'000, 1'001});
  ForPieces(kMostFramesListed, [&](std::size_t from, std::size_t to) {
    return Format(
        "insert into frames select job_id, node_id, session, i, kind, rank, schema_hash, i, i, "
        "rows, clock_suspect, payload from frames, generate_series({}, {}) as i where sequence = 1",
        from + 2, to + 1);  // beside the one that is there
  });
  TickQuery query{.job_id = frames_.job_id(), .node_id = frames_.node_id(), .filter = {}};
  const auto fresh = ReadFreshTicks(*connection_, query);
  ASSERT_FALSE(fresh);
  EXPECT_EQ(fresh.error().code, Code::kUnavailable);
  EXPECT_NE(fresh.error().message.find("compactor"), std::string::npos);
  const auto keys = ListFrames(*connection_, {.job_id = query.job_id, .node_id = {}, .ranks = {}});
  ASSERT_TRUE(keys);
  const FrameChoice choice = ChooseFrames(*keys, SIZE_MAX, 0);
  EXPECT_FALSE(choice.all);
  EXPECT_EQ(choice.complete_before_us, keys->back().from_us);
}

TEST_F(Series, MoreRollupsThanAnAnswerHoldsAreSaid) {
  const std::vector<StoredRollup> one{
      {{10'000'000, "user.a", -1}, RollUp({{0}, {{"user.a", ""}}, {{0, {1}, {}}}}, 10'000'000)}};
  ASSERT_TRUE(SaveRollups(*connection_, *database_.Connect(), frames_.job_id(), 1, one));
  ForPieces(kMostRollups + 1, [&](std::size_t from, std::size_t to) {
    return Format(
        "insert into rollups select job_id, node_id, metric, bin_us, i, schema_hash, payload, "
        "marked from rollups, generate_series({1}, {2}) as i where chunk_us = -1; insert into "
        "job_rollups (job_id, bin_us, metric, chunk_us) select {0}, 10000000, "
        "'user.a', i from generate_series({1}, {2}) as i",
        frames_.job_id(), from, to - 1);
  });
  const RollupQuery query{
      .job_id = frames_.job_id(), .node_ids = {}, .bin_us = 10'000'000, .filter = {}};
  const auto rollups = LoadRollups(*connection_, query);
  ASSERT_FALSE(rollups);
  EXPECT_EQ(rollups.error().code, Code::kInvalid);
  const auto folded = LoadJobRollups(*connection_, query);
  ASSERT_FALSE(folded);
  EXPECT_NE(folded.error().message.find("shorter range"), std::string::npos);
}

TEST_F(Series, OverlappingFramesBecomeOneSeriesInOrder) {
  StoreTicks({"user.a", ""}, {10, 30, 50});
  StoreTicks({"user.a", ""}, {20, 30, 40});
  StoreTicks({"user.a", ""}, {1, 60});
  const TickTable table = Read();
  EXPECT_EQ(table.at_us, (SeriesTimes{1, 10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(table.columns.at(0).values, table.at_us);
  EXPECT_TRUE(table.columns[0].present.empty());
}

// Tables that follow each other are concatenated, and cut as others are.
TEST_F(Series, FramesThatFollowEachOtherBecomeOneSeries) {
  StoreTicks({"user.a", ""}, {10, 20});
  StoreTicks({"user.a", ""}, {30, 40});
  StoreTicks({"user.a", ""}, {50, 60});
  EXPECT_EQ(Read().columns.at(0).values, (SeriesTimes{10, 20, 30, 40, 50, 60}));
  EXPECT_EQ(Read({.after_us = 10, .until_us = 50, .filter = {}}).at_us,
            (SeriesTimes{20, 30, 40, 50}));
  const TickTable first = Read({.filter = {}, .most_rows = 3});
  EXPECT_EQ(first.at_us, (SeriesTimes{10, 20, 30}));
  EXPECT_EQ(first.columns.at(0).values, first.at_us);
  EXPECT_FALSE(first.complete);
}

TEST_F(Series, ManyFramesOfAShortTimeAreReadAsWell) {
  constexpr std::int64_t kFrames = 600;
  for (std::int64_t at_us = 1; at_us <= kFrames; ++at_us) StoreTicks({"user.a", ""}, {at_us});
  EXPECT_EQ(Read().at_us.size(), kFrames);
}

TEST_F(Series, RangeIsOpenAtItsBeginning) {
  StoreTicks({"user.a", ""}, {10, 20, 30, 40});
  EXPECT_EQ(Read({.after_us = 10, .until_us = 30, .filter = {}}).at_us, (SeriesTimes{20, 30}));
  EXPECT_TRUE(Read({.after_us = 40, .filter = {}}).at_us.empty());
}

TEST_F(Series, NodeWithoutASeriesHasItMissing) {
  StoreTicks({"user.a", "gpu0"}, {10});
  StoreTicks({"user.b", ""}, {20});
  const TickTable table = Read();
  ASSERT_EQ(table.series.size(), 2u);
  EXPECT_TRUE(table.columns[0].Has(0));
  EXPECT_FALSE(table.columns[0].Has(1));
  EXPECT_FALSE(table.columns[1].Has(0));
}

TEST_F(Series, TwoFramesMayHoldDifferentSeriesOfOneInstant) {
  StoreTicks({"user.a", ""}, {10, 20});
  StoreTicks({"user.b", ""}, {10, 30});
  const TickTable table = Read();
  ASSERT_EQ(table.at_us, (SeriesTimes{10, 20, 30}));
  EXPECT_TRUE(table.columns[0].Has(0));
  EXPECT_TRUE(table.columns[1].Has(0));
}

TEST_F(Series, OnlyWhatIsAskedForIsRead) {
  StoreTicks({"user.a", "gpu0"}, {10});
  StoreTicks({"user.a", "gpu1"}, {20});
  StoreTicks({"user.b", "gpu1"}, {30});
  const TickTable table = Read({.filter = {{"user.a"}, "gpu1"}});
  EXPECT_EQ(table.series, (std::vector<SeriesName>{{"user.a", "gpu1"}}));
  EXPECT_EQ(table.at_us, (SeriesTimes{10, 20, 30}));
}

TEST_F(Series, ScalesAreMadeEqual) {
  StoreTicks({"user.a", ""}, {10}, 0);
  StoreTicks({"user.a", ""}, {2000}, 2);
  const TickTable table = Read();
  EXPECT_EQ(table.columns[0].At(0), 10);
  EXPECT_EQ(table.columns[0].At(1), 20);
}

// Whatever the frames and the sizes of the slices: each instant comes once, in order.
TEST_F(Series, SlicesTogetherGiveTheWholeSeries) {
  std::mt19937 dice(7);
  SeriesTimes all;
  for (int frame = 0; frame < 40; ++frame) {
    SeriesTimes times;
    const std::int64_t from = 1 + dice() % 300;
    for (std::size_t i = 0; i < 1 + dice() % 9; ++i) {
      times.push_back(from + static_cast<std::int64_t>(i * (1 + frame % 30)));
    }
    all.insert(all.end(), times.begin(), times.end());
    StoreTicks({"user.a", ""}, times);
  }
  std::ranges::sort(all);
  all.erase(std::ranges::unique(all).begin(), all.end());
  for (const std::size_t most : {1u, 3u, 10u, 1000u}) {
    SeriesTimes seen;
    for (TickQuery query{.filter = {}, .most_rows = most};;) {
      const TickTable table = Read(query);
      ASSERT_LE(table.at_us.size(), most);
      if (table.at_us.empty()) break;
      seen.insert(seen.end(), table.at_us.begin(), table.at_us.end());
      query.after_us = table.at_us.back();
    }
    EXPECT_EQ(seen, all) << most;
  }
}

TEST_F(Series, StepsComeOnceInOrderOfTheirStart) {
  StoreSteps(0, {{3, 30}, {1, 10}});
  StoreSteps(0, {{2, 20}, {3, 30}});
  StoreSteps(1, {{1, 15}});
  const auto steps = ReadSteps(*connection_, {.job_id = frames_.job_id(), .rank = 0});
  ASSERT_TRUE(steps) << steps.error().message;
  ASSERT_EQ(steps->size(), 3u);
  EXPECT_EQ((*steps)[1].number, 2);
  EXPECT_EQ((*steps)[1].phase(Phase::kData), 40ns);
  EXPECT_EQ((*steps)[2].start, FromMicros(30));
}

TEST_F(Series, SlicesNeverCutBetweenStepsOfOneInstant) {
  StoreSteps(0, {{1, 10}, {2, 20}, {3, 20}, {4, 20}, {5, 30}});
  std::vector<std::int64_t> seen;
  for (StepQuery query{.job_id = frames_.job_id(), .rank = 0, .most_rows = 2};;) {
    const auto steps = ReadSteps(*connection_, query);
    ASSERT_TRUE(steps) << steps.error().message;
    if (steps->empty()) break;
    for (const Step& step : *steps) seen.push_back(step.number);
    query.after_us = ToMicros(steps->back().start);
  }
  EXPECT_EQ(seen, (std::vector<std::int64_t>{1, 2, 3, 4, 5}));
}

TEST_F(Series, AnnotationsAreSummedOverFrames) {
  const Schema schema{0,
                      {{"name", ""},
                       {"from_us", ""},
                       {"to_us", ""},
                       {"count", ""},
                       {"sum_ns", ""},
                       {"min_ns", ""},
                       {"max_ns", ""}},
                      {"load", "save"}};
  for (const std::int64_t sum : {100, 300}) {
    Table table{2, std::vector<Column>(7)};
    for (std::int64_t name = 0; name < 2; ++name) {
      const std::int64_t row[] = {name, 10, 20, 2, sum, sum / 4, sum / 2};
      for (std::size_t i = 0; i < 7; ++i) table.columns[i].values.push_back(row[i]);
    }
    frames_.Store(FrameKind::kAnnotations, schema, table, 1);
  }
  const auto ranks = ReadAnnotations(*connection_, frames_.job_id(), std::vector{0, 1});
  ASSERT_TRUE(ranks && ranks->size() == 1);
  const std::vector<AnnotationRow>& rows = ranks->at(0);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0].name, "load");
  EXPECT_EQ(rows[0].count, 4);
  EXPECT_EQ(rows[0].sum_ns, 400);
  EXPECT_EQ(rows[0].min_ns, 25);
  EXPECT_EQ(rows[0].max_ns, 150);
}

TEST_F(Series, RangeOfANodeIsItsFirstAndLastTick) {
  EXPECT_TRUE(ReadTickRanges(*connection_, frames_.job_id())->empty());
  StoreTicks({"user.a", ""}, {50, 70});
  StoreTicks({"user.a", ""}, {10, 30});
  const auto ranges = ReadTickRanges(*connection_, frames_.job_id());
  ASSERT_TRUE(ranges && ranges->size() == 1);
  EXPECT_EQ((*ranges)[0].from_us, 10);
  EXPECT_EQ((*ranges)[0].to_us, 70);
}

}  // namespace
}  // namespace stepscope
