#include "agent/frames/framer.h"

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

using test::FakeClock;

const Time kStart = FromMicros(1'800'000'000'000'000);

struct FramerTest : testing::Test {
  // All appended frames; a frame without its schema gets the one of its hash.
  std::vector<Frame> Frames() {
    std::vector<Frame> frames;
    const Push push = stream.NextPush(1000, 1 << 30);
    if (push.frames == 0) return frames;
    const auto split = SplitPush(push.body);
    for (const std::string_view bytes : *split) frames.push_back(*DecodeFrame(bytes));
    return frames;
  }

  FakeClock clock;
  FrameStream stream{{"job-1", "node-1"}, SpoolLimits{}, clock};
};

struct TickFramerTest : FramerTest {
  TickFramerTest() {
    load = row.Add("load_1m");
    cpu = row.Add("cpu_util_percent", "cpu0");
  }
  void Add(int tick, bool with_cpu = true) {
    row.Clear();
    row.Set(load, tick);
    if (with_cpu) row.Set(cpu, 50.25);
    framer.Add(kStart + tick * 500ms, row);
  }
  TickFramer framer{stream};
  TickRow row;
  std::size_t load = 0, cpu = 0;
};

TEST_F(TickFramerTest, MakesOneFrameOfTheTicksBetweenTwoCuts) {
  for (int i = 0; i < 4; ++i) Add(i, i != 2);
  framer.Cut();
  framer.Cut();
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 1u);
  ASSERT_TRUE(frames[0].schema);
  EXPECT_EQ(
      frames[0].schema->columns,
      (std::vector<SeriesName>{{"at_us", ""}, {"load_1m", ""}, {"cpu_util_percent", "cpu0"}}));
  const auto table = DecodeTable(frames[0].payload);
  ASSERT_TRUE(table.ok());
  ASSERT_EQ(table->rows, 4u);
  EXPECT_EQ(table->columns[0].values[3], ToMicros(kStart + 1500ms));
  EXPECT_DOUBLE_EQ(table->columns[1].At(3), 3);
  EXPECT_TRUE(table->columns[2].Has(1));
  EXPECT_FALSE(table->columns[2].Has(2));
  EXPECT_DOUBLE_EQ(table->columns[2].At(3), 50.25);
}

TEST_F(TickFramerTest, SendsTheSchemaOnce) {
  Add(0);
  framer.Cut();
  Add(1);
  framer.Cut();
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_TRUE(frames[0].schema);
  EXPECT_FALSE(frames[1].schema);
  EXPECT_EQ(frames[0].head.schema_hash, frames[1].head.schema_hash);
  EXPECT_EQ(frames[1].head.sequence, 2u);
}

TEST_F(TickFramerTest, StartsAFrameWhenASeriesIsNew) {
  Add(0);
  row.Add("cpu_util_percent", "cpu1");
  Add(1);
  framer.Cut();
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].schema->columns.size(), 3u);
  EXPECT_EQ(frames[1].schema->columns.size(), 4u);
  EXPECT_EQ(DecodeTable(frames[1].payload)->rows, 1u);
}

TEST_F(TickFramerTest, CutsAFullFrameByItself) {
  for (std::size_t i = 0; i < kMaxRowsPerFrame + 1; ++i) Add(static_cast<int>(i));
  ASSERT_EQ(Frames().size(), 1u);
  framer.Cut();
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(DecodeTable(frames[0].payload)->rows, kMaxRowsPerFrame);
  EXPECT_EQ(DecodeTable(frames[1].payload)->rows, 1u);
}

TEST_F(TickFramerTest, StartsAFrameWhenTheClockIsSetBack) {
  Add(10);
  Add(4);
  Add(5);
  framer.Cut();
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(DecodeTable(frames[1].payload)->rows, 2u);
}

struct MarkFramerTest : FramerTest {
  MarkFramer framer{stream};

  static RankMarks Marks(std::int32_t rank, std::vector<Step> steps) {
    return {.rank = rank, .steps = std::move(steps), .annotations = {}};
  }
  static Step StepOf(std::int64_t number, Phase phase) {
    Step step{.number = number, .start = kStart + number * 1ms, .wall = 900us};
    step.phases[static_cast<std::size_t>(phase)] = 300us;
    return step;
  }
};

TEST_F(MarkFramerTest, MakesAFrameOfStepsForEachRank) {
  IntakeBatch batch;
  batch.marks.push_back(Marks(0, {StepOf(7, Phase::kData), StepOf(8, Phase::kData)}));
  batch.marks.push_back(Marks(3, {StepOf(1, Phase::kBackward)}));
  framer.Add(batch);
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 2u);
  EXPECT_EQ(frames[0].head.kind, FrameKind::kSteps);
  EXPECT_EQ(frames[1].schema->rank, 3);
  const std::vector<SeriesName> columns = {
      {"step", ""}, {"start_us", ""}, {"wall_ns", ""}, {"data", ""}};
  EXPECT_EQ(frames[0].schema->columns, columns);
  const auto table = DecodeTable(frames[0].payload);
  ASSERT_EQ(table->rows, 2u);
  EXPECT_EQ(table->columns[0].values[1], 8);
  EXPECT_EQ(table->columns[1].values[1], ToMicros(kStart + 8ms));
  EXPECT_EQ(table->columns[2].values[0], 900'000);
  EXPECT_EQ(table->columns[3].values[0], 300'000);
}

TEST_F(MarkFramerTest, StepsLieInTheTimeOfTheirFrameThoughTheClockWasSetBack) {
  IntakeBatch batch;
  batch.marks.push_back(Marks(0, {StepOf(7, Phase::kData), StepOf(8, Phase::kData)}));
  batch.marks[0].steps[1].start -= 1h;
  framer.Add(batch);
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(DecodeTable(frames[0].payload)->rows, 2u);
  EXPECT_EQ(stream.figures().from_us, ToMicros(kStart + 8ms - 1h));
  EXPECT_EQ(stream.figures().to_us, ToMicros(kStart + 7ms + 900us));
}

TEST_F(MarkFramerTest, KeepsThePhasesThatARankHasShown) {
  framer.Add(
      {.rank_started = {}, .marks = {Marks(0, {StepOf(1, Phase::kData)})}, .rank_ended = {}});
  framer.Add(
      {.rank_started = {}, .marks = {Marks(0, {StepOf(2, Phase::kLoss)})}, .rank_ended = {}});
  framer.Add(
      {.rank_started = {}, .marks = {Marks(0, {StepOf(3, Phase::kData)})}, .rank_ended = {}});
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[1].schema->columns.size(), 5u);
  EXPECT_FALSE(frames[2].schema);
  EXPECT_EQ(frames[2].head.schema_hash, frames[1].head.schema_hash);
}

TEST_F(MarkFramerTest, NamesAnnotationsByADictionary) {
  IntakeBatch batch;
  batch.marks.push_back(
      {.rank = 0,
       .steps = {},
       .annotations = {{"Augment", 100, 200, 3, 30, 5, 15},
                       {std::string(62, 'a') + "\xc3\xa4", 50, 180, 1, 9, 9, 9}}});
  framer.Add(batch);
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].head.kind, FrameKind::kAnnotations);
  // The name of 64 bytes is cut, but not within its last character.
  EXPECT_EQ(frames[0].schema->names, (std::vector<std::string>{"Augment", std::string(62, 'a')}));
  const auto table = DecodeTable(frames[0].payload);
  EXPECT_EQ(table->columns[0].values, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(table->columns[3].values, (std::vector<std::int64_t>{3, 1}));
}

TEST_F(MarkFramerTest, SpansComeBeforeTheEndOfTheirWindow) {
  IntakeBatch batch;
  RankSpans spans{7, {"Augment", "Load"}, std::vector<WindowSpan>(10'000, {1, 2, 4711, 5, 0, 30})};
  for (std::size_t i = 0; i < spans.rows.size(); ++i) {
    spans.rows[i].start_ns = 1'000'000 + static_cast<std::int64_t>(i);
  }
  batch.marks.push_back({.rank = 3, .steps = {}, .annotations = {}, .spans = spans});
  batch.window_ended = SpanWindowEnd{"spans-7", kStart, true, "", 10'000, 2};
  framer.Add(batch);
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].head.kind, FrameKind::kSpans);
  EXPECT_EQ(frames[0].schema->rank, 3);
  EXPECT_EQ(frames[0].schema->names, spans.names);
  const auto table = DecodeTable(frames[0].payload);
  ASSERT_TRUE(table) << table.error().message;
  std::vector<std::int64_t> last;
  for (const Column& column : table->columns) last.push_back(column.values.back());
  EXPECT_EQ(last, (std::vector<std::int64_t>{7, 1, 4711, 2, 5, 1'000'000 + 8'191, 30}));
  EXPECT_EQ(DecodeTable(frames[1].payload)->rows, 10'000u - 8'192u);
  const Json end = *ParseJson(frames[2].payload);
  EXPECT_EQ(end["command"], "spans-7");
  EXPECT_EQ(end["outcome"], "done");
  EXPECT_EQ(end["spans"], 10'000);
  EXPECT_EQ(end["dropped"], 2);
}

TEST_F(MarkFramerTest, BinsOfANameShareItAndManyMakeSeveralFrames) {
  std::vector<AnnotationStatistic> rows;
  for (int name = 0; name < 100; ++name) {
    for (int bin = 0; bin < 90; ++bin) {
      rows.push_back({Format("name {:02}", name), 1, 2, 1, bin, bin, bin});
    }
  }
  IntakeBatch batch;
  batch.marks.push_back({.rank = 0, .steps = {}, .annotations = rows});
  framer.Add(batch);
  std::size_t seen = 0;
  for (const Frame& frame : Frames()) {
    const auto table = DecodeTable(frame.payload);
    ASSERT_TRUE(table) << table.error().message;
    EXPECT_LE(table->rows, 8'192U);
    seen += table->rows;
  }
  EXPECT_EQ(seen, rows.size());
  EXPECT_EQ(Frames().back().schema->names.size(), 100U);
}

TEST_F(MarkFramerTest, SaysThatRanksComeBeforeTheirStepsAndGoAfter) {
  IntakeBatch batch;
  batch.rank_started.push_back({2, kStart, R"({"pid": 77})"});
  batch.marks.push_back(Marks(2, {StepOf(1, Phase::kData)}));
  batch.rank_ended.push_back({2, kStart + 1s});
  framer.Add(batch);
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 3u);
  EXPECT_EQ(frames[0].payload,
            R"({"at_us":1800000000000000,"event":"rank","facts":{"pid":77},"rank":2})");
  EXPECT_EQ(frames[1].head.kind, FrameKind::kSteps);
  EXPECT_EQ(frames[2].payload, R"({"at_us":1800000001000000,"event":"rank_ended","rank":2})");
}

TEST_F(FramerTest, NeverSpoolsAFrameThatNoServiceTakes) {
  stream.Append({.kind = FrameKind::kLifecycle, .payload = std::string(2 << 20, 'x')});
  const auto frames = Frames();
  ASSERT_EQ(frames.size(), 1u);
  EXPECT_EQ(frames[0].head.kind, FrameKind::kLost);
}

}  // namespace
}  // namespace stepscope
