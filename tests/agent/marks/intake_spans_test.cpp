// Spans of a window: which of them are kept, to which step they belong, and how the window ends.

#include <gmock/gmock.h>

#include "core/base/text.h"
#include "tests/agent/marks/intake_fixture.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing_support::FakeProcess;
using testing_support::RingWriter;

class IntakeSpans : public test::IntakeFixture {
 protected:
  ~IntakeSpans() override { intake_.reset(); }  // reads the clock until it is gone
  Intake& StartWithClock() {
    auto intake = Intake::Start(options_, time_);
    EXPECT_TRUE(intake.ok()) << intake.error().message;
    intake_ = std::move(intake).value();
    return *intake_;
  }
  std::unique_ptr<FakeProcess> Train(int rank, const RingWriter& ring) {
    auto process = Connect(rank, ring);
    process->Send(MarkNames{{{1, "load"}, {2, "augment"}}});
    return process;
  }
  // Marks steps of 10 ms, without gaps, each with a span of 1 ms in its middle.
  static void RunSteps(RingWriter& ring, int from, int to) {
    for (int step = from; step <= to; ++step) {
      ring.Annotation(1, step * 10ms + 4ms, 1ms);
      ring.Step(static_cast<std::uint64_t>(step), step * 10ms, 10ms);
    }
  }
  std::string Keep(std::int64_t first, std::int64_t last) {
    return intake_->KeepSpans("", {1, first, last, "spans-1", 60s});
  }
  // Drains once; "0:5:load" for a span of rank 0 in step 5.
  std::vector<std::string> Drain() {
    IntakeBatch batch = intake_->Drain();
    end_ = batch.window_ended;
    rows_.clear();
    std::vector<std::string> spans;
    for (const RankMarks& marks : batch.marks) {
      for (const WindowSpan& span : marks.spans.rows) {
        spans.push_back(Format("{}:{}:{}", marks.rank, span.step,
                               marks.spans.names[static_cast<std::size_t>(span.name)]));
        rows_.push_back(span);
      }
    }
    return spans;
  }
  void ExpectRefused(const std::string& reason) {
    ASSERT_TRUE(end_.has_value());
    EXPECT_FALSE(end_->recorded);
    EXPECT_EQ(end_->reason, reason);
    EXPECT_EQ(end_->spans, 0);
  }

  test::FakeClock time_;
  std::vector<WindowSpan> rows_;
  std::optional<SpanWindowEnd> end_;
};

TEST_F(IntakeSpans, ThoseOfItsStepsAreKeptAndTheEndComesBehindThem) {
  StartWithClock();
  RingWriter ring(1024);
  const auto process = Train(0, ring);
  RunSteps(ring, 0, 3);
  EXPECT_EQ(Keep(5, 6), "");
  EXPECT_TRUE(Drain().empty());
  RunSteps(ring, 4, 5);
  EXPECT_THAT(Drain(), ElementsAre("0:5:load"));
  EXPECT_EQ(rows_[0].start_ns, testing_support::kWallBaseNs + 54'000'000);
  EXPECT_EQ(rows_[0].duration_ns, 1'000'000);
  EXPECT_EQ(rows_[0].thread, 0);
  EXPECT_FALSE(end_);
  RunSteps(ring, 6, 9);
  EXPECT_THAT(Drain(), ElementsAre("0:6:load"));
  EXPECT_FALSE(end_) << "another thread may have marked something in its last step";
  EXPECT_TRUE(Drain().empty());
  ASSERT_TRUE(end_);
  EXPECT_EQ(end_->command, "spans-1");
  EXPECT_TRUE(end_->recorded);
  EXPECT_EQ(end_->reason, "");
  EXPECT_EQ(end_->spans, 2);
  EXPECT_EQ(end_->dropped, 0);
  EXPECT_EQ(Keep(20, 20), "") << "one more can be asked for";
}

TEST_F(IntakeSpans, OneThatWaitedForItsStepComesBeforeYoungerOnes) {
  StartWithClock();
  RingWriter ring(1024);
  const auto process = Train(0, ring);
  RunSteps(ring, 0, 3);
  EXPECT_EQ(Keep(5, 7), "");
  RunSteps(ring, 4, 4);
  ring.Annotation(1, 54ms, 1ms);
  EXPECT_TRUE(Drain().empty());
  ring.Step(5, 50ms, 10ms);
  RunSteps(ring, 6, 7);
  EXPECT_THAT(Drain(), ElementsAre("0:5:load", "0:6:load", "0:7:load"));
}

TEST_F(IntakeSpans, StatisticsStayAsTheyAre) {
  StartWithClock();
  RingWriter ring(1024);
  const auto process = Train(0, ring);
  Keep(2, 3);
  RunSteps(ring, 0, 9);
  const IntakeBatch batch = intake_->Drain();
  ASSERT_EQ(batch.marks.size(), 1u);
  EXPECT_EQ(batch.marks[0].annotations[0].count, 10);
  EXPECT_EQ(batch.marks[0].spans.rows.size(), 2u);
}

// Only one thread counts steps.
TEST_F(IntakeSpans, OtherThreadsAndProcessesOfTheRankBelongToItsSteps) {
  StartWithClock();
  RingWriter ring(1024), thread(1024), worker(1024);
  const auto process = Train(0, ring), other = Train(0, worker);
  process->Send(MarkRing{7}, thread.memory.get());
  Keep(2, 3);
  worker.Annotation(2, 21ms, 2ms);
  thread.Annotation(2, 15ms, 10ms);
  EXPECT_TRUE(Drain().empty()) << "the steps are not there";
  RunSteps(ring, 0, 2);
  worker.Annotation(2, 38ms, 5ms);
  EXPECT_THAT(Drain(), testing::UnorderedElementsAre("0:2:load", "0:2:augment", "0:2:augment"));
  RunSteps(ring, 3, 4);
  EXPECT_THAT(Drain(), ElementsAre("0:3:load")) << "the worker's ends in step 4";
  EXPECT_TRUE(Drain().empty());
  EXPECT_EQ(end_->spans, 4);
}

TEST_F(IntakeSpans, AStepThatHasBegunIsTooLate) {
  StartWithClock();
  RingWriter ring(1024);
  const auto process = Train(0, ring);
  RunSteps(ring, 0, 6);
  for (const std::int64_t first : {0, 6, 7}) {
    EXPECT_EQ(Keep(first, 9), "");
    EXPECT_TRUE(Drain().empty());
    ExpectRefused(Format("rank 0: step {} had begun", first));
  }
  EXPECT_EQ(Keep(8, 8), "");
  RunSteps(ring, 7, 9);
  EXPECT_THAT(Drain(), ElementsAre("0:8:load"));
}

// Until its first step ends it is unknown that it is in the window: its first spans were dropped.
TEST_F(IntakeSpans, AStepThatComesFromFarIsNotWhole) {
  StartWithClock();
  RingWriter ring(1024);
  const auto process = Train(0, ring);
  EXPECT_EQ(Keep(5000, 5001), "");
  RunSteps(ring, 5000, 5001);
  EXPECT_THAT(Drain(), ElementsAre("0:5001:load"));
  if (!end_) Drain();
  ASSERT_TRUE(end_.has_value());
  EXPECT_TRUE(end_->recorded);
  EXPECT_EQ(end_->reason, "rank 0: 1 of 2 steps are whole");
}

TEST_F(IntakeSpans, ARankWithoutStepsHoldsNobodyUp) {
  StartWithClock();
  RingWriter ring(1024), silent(1024);
  const auto process = Train(0, ring), other = Train(1, silent);
  EXPECT_EQ(Keep(1, 2), "");
  RunSteps(ring, 0, 2);
  EXPECT_THAT(Drain(), ElementsAre("0:1:load", "0:2:load"));
  if (!end_) Drain();
  ASSERT_TRUE(end_.has_value());
  EXPECT_TRUE(end_->recorded);
  EXPECT_EQ(end_->reason, "rank 1: did not come to step 2, no step ended");
}

TEST_F(IntakeSpans, ARankThatIsLateIsSaidBesideThoseThatAreNot) {
  StartWithClock();
  RingWriter first(1024), second(1024);
  const auto one = Train(0, first), two = Train(1, second);
  RunSteps(first, 0, 6);
  Keep(5, 5);
  RunSteps(second, 0, 6);
  EXPECT_THAT(Drain(), ElementsAre("1:5:load"));
  Drain();
  EXPECT_TRUE(end_->recorded);
  EXPECT_EQ(end_->reason, "rank 0: step 5 had begun");
}

TEST_F(IntakeSpans, EndsWithItsRanks) {
  StartWithClock();
  RingWriter ring(1024);
  auto process = Train(0, ring);
  Keep(2, 9);
  RunSteps(ring, 0, 4);
  ring.Annotation(1, 51ms, 1ms);
  process->Close();
  EXPECT_THAT(Drain(), ElementsAre("0:2:load", "0:3:load", "0:4:load"));
  ASSERT_TRUE(end_) << "nothing can come any more";
  EXPECT_TRUE(end_->recorded);
  EXPECT_EQ(end_->reason, "rank 0: ended before step 9, the newest is 4");
}

TEST_F(IntakeSpans, StepsThatNeverComeEndIt) {
  StartWithClock();
  RingWriter ring(1024);
  const auto process = Train(0, ring);
  RunSteps(ring, 0, 4);
  EXPECT_EQ(Keep(1000, 1001), "");
  EXPECT_EQ(Keep(5, 5), "window 1 is being recorded");
  Drain();
  EXPECT_FALSE(end_);
  time_.Advance(61s);
  EXPECT_TRUE(Drain().empty());
  ExpectRefused("rank 0: did not come to step 1001, the newest is 4");
}

TEST_F(IntakeSpans, WithoutAProcessThereIsNothingToKeep) {
  StartWithClock();
  EXPECT_EQ(Keep(0, 1), "no training process is connected");
}

TEST_F(IntakeSpans, ARankThatComesLaterIsRecordedFromItsFirstStep) {
  StartWithClock();
  RingWriter first(1024), second(1024);
  const auto one = Train(0, first);
  Keep(1, 1);
  const auto two = Train(1, second);
  RunSteps(first, 0, 2);
  RunSteps(second, 0, 2);
  EXPECT_THAT(Drain(), ElementsAre("0:1:load", "1:1:load"));
}

TEST_F(IntakeSpans, AStepThatLostMarksIsNotWhole) {
  StartWithClock();
  RingWriter ring(1024);
  const auto process = Train(0, ring);
  Keep(2, 4);
  RunSteps(ring, 0, 2);
  ring.Annotation(1, 34ms, 1ms, true);
  ring.Step(3, 30ms, 10ms);
  RunSteps(ring, 4, 4);
  EXPECT_THAT(Drain(), ElementsAre("0:2:load", "0:4:load"));
  Drain();
  EXPECT_EQ(end_->reason, "rank 0: 2 of 3 steps are whole");
}

TEST_F(IntakeSpans, WhatFindsNoRoomIsCounted) {
  StartWithClock();
  RingWriter ring(65'536);
  const auto process = Train(0, ring);
  RunSteps(ring, 0, 0);
  Keep(2, 3);
  RunSteps(ring, 1, 1);
  std::size_t kept = Drain().size();
  for (int round = 0; round < 2; ++round) {
    for (int i = 0; i < 40'000; ++i) ring.Annotation(1, 20ms + round * 10ms, 1us);
    ring.Step(static_cast<std::uint64_t>(2 + round), 20ms + round * 10ms, 10ms);
    kept += Drain().size();
  }
  Drain();
  EXPECT_EQ(kept, Intake::kMostWindowSpans);
  EXPECT_EQ(end_->spans, static_cast<std::int64_t>(Intake::kMostWindowSpans));
  EXPECT_EQ(end_->dropped, 80'000 - end_->spans);
}

TEST_F(IntakeSpans, NamesThatComeLateAndNamesBeyondTheBoundAreSaidSo) {
  StartWithClock();
  RingWriter ring(1024);
  const auto process = Connect(0, ring);
  Keep(1, 2);
  ring.Step(0, 0ms, 10ms);
  ring.Annotation(5, 12ms, 1ms);
  ring.Annotation(0, 14ms, 1ms);
  ring.Step(1, 10ms, 10ms);
  EXPECT_THAT(Drain(), ElementsAre("0:1:(other)"));
  process->Send(MarkNames{{{5, "late"}}});
  EXPECT_THAT(Drain(), ElementsAre("0:1:late"));
}

}  // namespace
}  // namespace stepscope
