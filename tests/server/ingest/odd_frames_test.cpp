// Frames that are odd: what is odd and true is stored, what cannot be is refused by name, and the
// next frame is fine.

#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

constexpr std::int64_t kOddHourUs = 3'600'000'000;

class OddFrames : public IngestTest {
 protected:
  OddFrames() : agent_("train") { ExpectStored(Push({agent_.Started()}), 1); }

  std::string TicksOf(const std::vector<std::int64_t>& times,
                      const std::vector<std::int64_t>& values) {
    const Schema schema{-1, {{"at_us", ""}, {"user.a", ""}}, {}};
    return agent_.Make(FrameKind::kTicks,
                       EncodeTable({times.size(), {{0, times, {}}, {0, values, {}}}}), &schema);
  }
  std::string WithSeries(std::size_t series, const std::vector<std::int64_t>& times = {kStartUs}) {
    Schema schema{-1, {{"at_us", ""}}, {}};
    Table table{times.size(), {{0, times, {}}}};
    for (std::size_t i = 0; i < series; ++i) {
      schema.columns.push_back({"user.a", std::to_string(i)});
      table.columns.push_back({0, std::vector<std::int64_t>(times.size(), 1), {}});
    }
    return agent_.Make(FrameKind::kTicks, EncodeTable(table), &schema);
  }
  void ExpectTaken(const std::string& frame) { ExpectStored(Push({frame}), agent_.head.sequence); }
  void ExpectTheNextIsFine(std::int64_t frames_before = 0) {
    ExpectTaken(agent_.Ticks(kStartUs));
    EXPECT_EQ(Frames(), frames_before + 1);
  }

  FrameMaker agent_;
};

TEST_F(OddFrames, OfAnotherVersionAreRefusedByIt) {
  std::string frame = agent_.Ticks(kStartUs);
  frame[4] = 9;
  const PushReply reply = Push({frame});
  ExpectProblem(reply, 400, "bad-frame");
  EXPECT_NE(reply.detail.find("version 9"), std::string::npos) << reply.detail;
  --agent_.head.sequence;
  ExpectTheNextIsFine();
}

TEST_F(OddFrames, OfMoreSeriesThanAllowedAreRefused) {
  const PushReply reply = Push({WithSeries(kMaxSeriesPerFrame + 1)});
  ExpectRejected(reply, 2, "bad-frame");
  EXPECT_NE(reply.answer.rejected.at(0).detail.find("columns"), std::string::npos)
      << reply.answer.rejected.at(0).detail;
  ExpectTheNextIsFine();
}

TEST_F(OddFrames, OfAHundredThousandSeriesAreRefused) {
  ExpectProblem(Push({WithSeries(100'000)}), 400, "bad-frame");
  --agent_.head.sequence;
  ExpectTheNextIsFine();
  EXPECT_LT(Count("select max(length(content)) from schemas"), 1'000);
}

// Ticks that no block of 600 s has room for are refused before they are acknowledged.
TEST_F(OddFrames, OfMoreThanCanBeKeptAreRefusedByName) {
  const auto every = [](std::int64_t us, std::int64_t rows) {
    std::vector<std::int64_t> times;
    for (std::int64_t i = 0; i < rows; ++i) times.push_back(kStartUs + i * us);
    return times;
  };
  const auto expect_refused = [&](const std::string& frame, const std::string& detail) {
    const PushReply reply = Push({frame});
    ExpectRejected(reply, agent_.head.sequence, "bad-table");
    EXPECT_EQ(reply.answer.rejected.at(0).detail, detail);
  };
  expect_refused(WithSeries(14'000, every(500'000, 3)),
                 "user.a: more than 1198 instants in 600 s cannot be kept of 14000 devices");
  expect_refused(WithSeries(2'900, every(100'000, 11)),
                 "user.a: more than 5783 instants in 600 s cannot be kept of 2900 devices");
  ExpectTaken(WithSeries(13'980, every(500'000, 3)));
  ExpectTaken(WithSeries(14'000, every(1'000'000, 3)));
  ExpectTaken(WithSeries(2'700, every(100, 600)));  // over too soon to tell of what goes on
  ExpectTheNextIsFine(3);
}

TEST_F(OddFrames, WithTheEndsOfInt64AreKeptAsTheyAre) {
  ExpectTaken(TicksOf({kStartUs, kStartUs + 1, kStartUs + 2}, {INT64_MIN, 0, INT64_MAX}));
  const TickTable ticks = Ticks();
  ASSERT_EQ(ticks.columns.size(), 1u);
  EXPECT_EQ(ticks.columns[0].values, (std::vector<std::int64_t>{INT64_MIN, 0, INT64_MAX}));
}

TEST_F(OddFrames, WithTimesAtTheEndsOfInt64AreRefused) {
  for (const std::int64_t at_us : {INT64_MIN, INT64_MAX, std::int64_t{-1}, std::int64_t{0}}) {
    const std::string frame = TicksOf({at_us}, {1});
    ExpectRejected(Push({frame}), agent_.head.sequence, "bad-time");
  }
  ExpectTheNextIsFine();
}

TEST_F(OddFrames, OfTomorrowAndOfNextYearAreStored) {
  for (const std::int64_t later_us : {24 * kOddHourUs, 365 * 24 * kOddHourUs}) {
    ExpectTaken(TicksOf({kStartUs + later_us}, {1}));
  }
  ExpectTheNextIsFine(2);
}

TEST_F(OddFrames, WhoseTimeRunsBackwardsAreStoredAndReadInOrder) {
  for (const std::int64_t back_us : {0, 1, 2}) {
    ExpectTaken(TicksOf({kStartUs - back_us * kOddHourUs}, {back_us}));
  }
  const TickTable ticks = Ticks();
  EXPECT_EQ(ticks.at_us, (std::vector<std::int64_t>{kStartUs - 2 * kOddHourUs,
                                                    kStartUs - kOddHourUs, kStartUs}));
  EXPECT_EQ(ticks.columns[0].values, (std::vector<std::int64_t>{2, 1, 0}));
}

TEST_F(OddFrames, OfAWrongClockAreStoredAndMarked) {
  agent_.head.round_trip_us = 1'000;
  for (const std::int64_t offset_us : {std::int64_t{60'000'000}, std::int64_t{-60'000'000}}) {
    agent_.head.clock_offset_us = offset_us;
    ExpectTaken(agent_.Ticks(kStartUs + offset_us));
  }
  EXPECT_EQ(Count("select count(*) from frames where clock_suspect"), 0) << "a minute is no fault";
  for (const std::int64_t offset_us :
       {std::int64_t{60'000'001}, -kOddHourUs, INT64_MAX, INT64_MIN}) {
    agent_.head.clock_offset_us = offset_us;
    ExpectTaken(TicksOf({kStartUs}, {1}));
  }
  EXPECT_EQ(Count("select count(*) from frames where clock_suspect"), 4);
}

TEST_F(OddFrames, LargerThanAFrameMayBeAreRefused) {
  const Schema schema{-1, {{"at_us", ""}}, {}};
  const std::string frame =
      agent_.Make(FrameKind::kTicks, std::string(kMaxFrameBytes, 'x'), &schema);
  ExpectProblem(Push({frame}), 400, "bad-frame");
  --agent_.head.sequence;
  ExpectTheNextIsFine();
}

}  // namespace
}  // namespace stepscope
