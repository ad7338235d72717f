// Frames that must not be stored, and what is said about them.

#include <random>

#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class Hostile : public IngestTest {
 protected:
  Hostile() : agent_("train") { ExpectStored(Push({agent_.Started()}), 1); }

  std::string Table(const Schema& schema, const std::vector<Column>& columns,
                    FrameKind kind = FrameKind::kTicks) {
    return agent_.Make(kind, EncodeTable({columns[0].values.size(), columns}), &schema);
  }
  static Schema TicksOf(std::vector<SeriesName> series) {
    series.insert(series.begin(), {"at_us", ""});
    return {-1, std::move(series), {}};
  }
  void ExpectRefusedAndGoneOn(const std::string& frame, const std::string& code) {
    const std::uint64_t sequence = agent_.head.sequence;
    const PushReply reply = Push({frame});
    ExpectStored(reply, sequence);
    ExpectRejected(reply, sequence, code);
    ExpectStored(Push({agent_.Ticks(kStartUs)}), sequence + 1);
    EXPECT_EQ(Frames(), 1);
    EXPECT_EQ(ingest_->figures().rejected, 1u);
  }

  FrameMaker agent_;
};

TEST_F(Hostile, WhatCanBeNoMetricIsRefusedByName) {
  for (const std::string name : {"Node CPU", "node_cpu%", "user.", "", "a/b"}) {
    const std::string frame = Table(TicksOf({{name, ""}}), {{0, {kStartUs}, {}}, {0, {1}, {}}});
    const std::uint64_t sequence = agent_.head.sequence;
    const PushReply reply = Push({frame});
    ExpectRejected(reply, sequence, "unknown-metric");
    EXPECT_NE(reply.answer.rejected.at(0).detail.find("'" + name + "'"), std::string::npos);
  }
  EXPECT_EQ(Frames(), 0);
}

TEST_F(Hostile, MetricOfANewerAgentIsKept) {
  const std::string frame = Table(TicksOf({{"load_1m", ""}, {"gpu_of_tomorrow_percent", "0"}}),
                                  {{0, {kStartUs}, {}}, {0, {1}, {}}, {0, {2}, {}}});
  const PushReply reply = Push({frame});
  EXPECT_TRUE(reply.answer.rejected.empty());
  ExpectStored(reply, agent_.head.sequence);
  EXPECT_EQ(Frames(), 1);
}

// A cursor that was set back by hand lets a number through that is there: the key of the table is
// the last who can tell, and that it had to is counted.
TEST_F(Hostile, NumberThatOnlyTheKeyKnowsIsRefusedAndCounted) {
  ExpectStored(Push({agent_.Ticks(kStartUs)}), 2);
  EXPECT_EQ(ingest_->figures().duplicate_rows, 0u);
  ASSERT_TRUE(connection_->Execute("update streams set stored = 1"));
  agent_.head.sequence = 1;
  const PushReply reply = Push({agent_.Ticks(kStartUs + 1)});
  ExpectStored(reply, 2);
  ExpectRejected(reply, 2, "refused");
  EXPECT_EQ(ingest_->figures().duplicate_rows, 1u);
  EXPECT_EQ(Frames(), 1);
  ExpectStored(Push({agent_.Ticks(kStartUs + 2)}), 3);
}

TEST_F(Hostile, SeriesThatStandsTwiceIsRefused) {
  ExpectRefusedAndGoneOn(Table(TicksOf({{"user.a", ""}, {"user.a", ""}}),
                               {{0, {kStartUs}, {}}, {0, {1}, {}}, {0, {1}, {}}}),
                         "bad-schema");
}

TEST_F(Hostile, FewerColumnsThanTheSchemaAreRefused) {
  ExpectRefusedAndGoneOn(Table(TicksOf({{"user.a", ""}}), {{0, {kStartUs}, {}}}), "bad-table");
}

TEST_F(Hostile, TimesThatDoNotAscendAreRefused) {
  ExpectRefusedAndGoneOn(Table(TicksOf({}), {{0, {kStartUs + 1, kStartUs}, {}}}), "bad-time");
}

TEST_F(Hostile, TimesOfAnotherCenturyAreRefused) {
  ExpectRefusedAndGoneOn(Table(TicksOf({}), {{0, {4'102'444'800'000'000}, {}}}), "bad-time");
}

TEST_F(Hostile, MissingTimesAreRefused) {
  ExpectRefusedAndGoneOn(Table(TicksOf({}), {{0, {kStartUs, 0}, {1, 0}}}), "bad-table");
}

TEST_F(Hostile, NoRowsAreRefused) {
  ExpectRefusedAndGoneOn(Table(TicksOf({}), {{0, {}, {}}}), "bad-table");
}

TEST_F(Hostile, MoreTicksThanAllowedAreRefused) {
  Column times;
  for (std::int64_t i = 0; i < 601; ++i) times.values.push_back(kStartUs + i);
  ExpectRefusedAndGoneOn(Table(TicksOf({}), {times}), "bad-table");
}

TEST_F(Hostile, PayloadOfRandomBytesIsRefused) {
  const Schema schema = TicksOf({{"user.a", ""}});
  ExpectRefusedAndGoneOn(agent_.Make(FrameKind::kTicks, std::string(200, '\x8f'), &schema),
                         "bad-table");
}

TEST_F(Hostile, StepsWithWildNumbersAreRefused) {
  const Schema schema{0, {{"step", ""}, {"start_us", ""}, {"wall_ns", ""}}, {}};
  ExpectRefusedAndGoneOn(
      Table(schema, {{0, {1}, {}}, {0, {kStartUs}, {}}, {0, {INT64_MAX}, {}}}, FrameKind::kSteps),
      "bad-table");
}

TEST_F(Hostile, UnknownPhaseIsRefused) {
  const Schema schema{0, {{"step", ""}, {"start_us", ""}, {"wall_ns", ""}, {"coffee", ""}}, {}};
  ExpectRefusedAndGoneOn(
      Table(schema, {{0, {1}, {}}, {0, {kStartUs}, {}}, {0, {1}, {}}, {0, {1}, {}}},
            FrameKind::kSteps),
      "bad-schema");
}

TEST_F(Hostile, AnnotationNameOutsideTheDictionaryIsRefused) {
  const Schema schema{0,
                      {{"name", ""},
                       {"from_us", ""},
                       {"to_us", ""},
                       {"count", ""},
                       {"sum_ns", ""},
                       {"min_ns", ""},
                       {"max_ns", ""}},
                      {"only"}};
  const std::vector<std::int64_t> row = {1, kStartUs, kStartUs, 1, 1, 1, 1};
  std::vector<Column> columns;
  for (const std::int64_t value : row) columns.push_back({0, {value}, {}});
  ExpectRefusedAndGoneOn(Table(schema, columns, FrameKind::kAnnotations), "bad-table");
}

TEST_F(Hostile, SchemaOfAnotherKindIsRefused) {
  const std::string ticks = agent_.Ticks(kStartUs);
  ExpectStored(Push({ticks}), 2);
  const Schema schema{-1, {{"at_us", ""}, {"node_cpu_percent", ""}, {"user.loss", ""}}, {}};
  const PushReply reply = Push({agent_.Make(FrameKind::kSteps, std::string("x"), &schema, false)});
  ExpectRejected(reply, 3, "bad-schema");
}

TEST_F(Hostile, LifecycleThatIsNotJsonIsRefused) {
  ExpectRefusedAndGoneOn(agent_.Make(FrameKind::kLifecycle, "{\"event\": "), "bad-lifecycle");
}

TEST_F(Hostile, LifecycleWithNulOrWildNumbersIsRefused) {
  const std::string bad[] = {
      R"({"event": "rank", "at_us": 1795205614000000, "rank": -1})",
      R"({"event": "rank", "at_us": 1795205614000000, "rank": 1e30})",
      R"({"event": "rank", "at_us": 5, "rank": 1})",
      R"({"event": "rank", "at_us": 1795205614000000, "rank": 1, "facts": {"a": "\u0000"}})",
      R"({"event": "rank", "at_us": 1795205614000000, "rank": 1, "facts": []})",
      R"({"event": "ended", "at_us": 1795205614000000})",
      R"({"event": "ended", "at_us": 1795205614000000, "exit_code": 4294967296})",
      R"({"event": "ended", "at_us": 1795205614000000, "exit_code": 0, "output": [1]})",
      R"({"event": "started", "at_us": 1795205614000000, "group": 7})",
      R"({"event": "started", "at_us": 1795205614000000, "interval_ms": 1})",
      R"({"event": "paused", "at_us": 1795205614000000})",
      R"([])"};
  for (const std::string& payload : bad) {
    const PushReply reply = Push({agent_.Make(FrameKind::kLifecycle, payload)});
    ExpectRejected(reply, agent_.head.sequence, "bad-lifecycle");
  }
  EXPECT_EQ(Count("select rejected from streams"), static_cast<std::int64_t>(std::size(bad)));
  EXPECT_EQ(Job().status, JobStatus::kInProgress);
}

TEST_F(Hostile, LostRangeThatGoesBackwardsIsRefused) {
  ExpectRefusedAndGoneOn(
      agent_.Make(FrameKind::kLost, R"({"first": 2, "last": 1, "reason": "dropped"})"), "bad-lost");
}

TEST_F(Hostile, KindOfALaterVersionIsRefused) {
  ExpectRefusedAndGoneOn(agent_.Make(FrameKind::kLogLines, "x"), "unknown-kind");
}

TEST_F(Hostile, ClockOfAnotherCenturyIsRefused) {
  agent_.head.created = FromMicros(1'000'000);
  const std::string frame = agent_.Ticks(kStartUs);
  agent_.head.created = FromMicros(kStartUs);
  ExpectRefusedAndGoneOn(frame, "clock");
}

TEST_F(Hostile, UnknownSchemaIsAskedFor) {
  const std::string without = agent_.Ticks(kStartUs, 4, false);
  ExpectProblem(Push({without}), 409, "unknown-schema");
  agent_.head.sequence = 1;
  ExpectStored(Push({agent_.Ticks(kStartUs, 4, true)}), 2);
}

TEST_F(Hostile, PushOfTwoSessionsIsRefusedWhole) {
  FrameMaker other("train");
  ExpectProblem(Push({agent_.Ticks(kStartUs), other.Started()}), 400, "bad-frame");
  EXPECT_EQ(Frames(), 0);
}

TEST_F(Hostile, FramesOutOfOrderAreRefusedWhole) {
  const std::string second = agent_.Ticks(kStartUs), third = agent_.Ticks(kStartUs + 9);
  ExpectProblem(Push({third, second}), 400, "bad-frame");
  ExpectProblem(Push({second, second}), 400, "bad-frame");
}

TEST_F(Hostile, UnknownJobWithoutAStartIsGone) {
  FrameMaker stranger("nobody-knows");
  ExpectProblem(Push({stranger.Ticks(kStartUs)}), 410, "unknown-job");
  EXPECT_EQ(Count("select count(*) from jobs"), 1);
}

TEST_F(Hostile, EmptyCutAndFlippedBodiesAreRefusedWhole) {
  const std::string first = test::PushOf({agent_.Ticks(kStartUs)});
  const std::string body = first + test::PushOf({agent_.Ticks(kStartUs + 9)});
  ExpectProblem(ingest_->Push(""), 400, "bad-frame");
  std::mt19937 dice(20261120);
  for (int i = 0; i < 300; ++i) {
    std::string bad = body;
    if (i % 2 == 0) {
      bad.resize(dice() % body.size());
      if (bad.size() == first.size()) continue;  // a push of its own
    } else {
      bad[dice() % body.size()] ^= static_cast<char>(1 << dice() % 8);
    }
    const PushReply reply = ingest_->Push(bad);
    EXPECT_NE(reply.status, 200);
    EXPECT_NE(reply.status, 503);
  }
  EXPECT_EQ(Frames(), 0);
  ExpectStored(ingest_->Push(body), 3);
}

}  // namespace
}  // namespace stepscope
