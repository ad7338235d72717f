// Marks whose wall clock is set while their process is connected, or whose node slept.

#include "core/base/clock.h"
#include "tests/agent/marks/intake_fixture.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

using testing_support::RingWriter;

// A training process and an agent with one clock.
class IntakeClock : public test::IntakeFixture {
 protected:
  ~IntakeClock() override { intake_.reset(); }  // reads the clock until it is gone
  void SetUp() override {
    auto intake = Intake::Start(options_, time_);
    ASSERT_TRUE(intake.ok()) << intake.error().message;
    intake_ = std::move(intake).value();
    Meet(ring_);
    process_ = Connect(0, ring_);
    process_->Send(MarkNames{{{1, "load"}}});
  }
  void Meet(RingWriter& ring) const {
    const Duration base = time_.Now().time_since_epoch() - time_.Steady().time_since_epoch();
    ring.words[kRingClockWord] = static_cast<std::uint64_t>(base.count());
  }
  // Marks a step of 10 ms that ends now, with a span in its midst; returns its marks.
  RankMarks Step(RingWriter& ring) {
    time_.Advance(10ms);
    const Duration start = time_.Steady().time_since_epoch() - 10ms;
    ring.Annotation(1, start + 4ms, 1ms);
    ring.Step(number_++, start, 10ms);
    const IntakeBatch batch = intake_->Drain();
    return batch.marks.empty() ? RankMarks() : batch.marks[0];
  }
  void ExpectBesideTheTicks(RingWriter& ring) {
    const RankMarks marks = Step(ring);
    ASSERT_EQ(marks.steps.size(), 1u);
    EXPECT_EQ(marks.steps[0].start, time_.Now() - 10ms);
    ASSERT_EQ(marks.annotations.size(), 1u);
    EXPECT_EQ(marks.annotations[0].from_us, ToMicros(time_.Now() - 6ms));
  }

  test::FakeClock time_;
  RingWriter ring_;
  std::unique_ptr<testing_support::FakeProcess> process_;
  std::uint64_t number_ = 0;
};

TEST_F(IntakeClock, StepsLieBesideTheTicksAfterItWasSetForward) {
  ExpectBesideTheTicks(ring_);
  time_.Set(time_.Now() + 1h);
  ExpectBesideTheTicks(ring_);
  ExpectBesideTheTicks(ring_);
}

TEST_F(IntakeClock, StepsLieBesideTheTicksAfterItWasSetBack) {
  ExpectBesideTheTicks(ring_);
  time_.Set(time_.Now() - 1h);
  ExpectBesideTheTicks(ring_);
  time_.Set(time_.Now() + 3h);
  ExpectBesideTheTicks(ring_);
}

TEST_F(IntakeClock, ARingThatComesLaterKnowsItAlready) {
  time_.Set(time_.Now() + 1h);
  RingWriter other;
  Meet(other);
  const auto process = Connect(1, other);
  process->Send(MarkNames{{{1, "load"}}});
  ExpectBesideTheTicks(other);
}

TEST_F(IntakeClock, WhatMovesByLessThanTheNoiseChangesNothing) {
  const RankMarks before = Step(ring_);
  time_.Set(time_.Now() + 5ms);
  const RankMarks after = Step(ring_);
  ASSERT_EQ(before.steps.size() + after.steps.size(), 2u);
  EXPECT_EQ(after.steps[0].start, before.steps[0].start + 10ms);
}

TEST_F(IntakeClock, AMetricThatIsSetAfterwardsIsTaken) {
  ring_.Metric(1, time_.Steady().time_since_epoch(), 1);
  ASSERT_EQ(intake_->TakeMetrics().size(), 1u);
  time_.Set(time_.Now() - 1h);
  ring_.Metric(1, time_.Steady().time_since_epoch(), 2);
  const auto taken = intake_->TakeMetrics();
  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].value, 2);
}

}  // namespace
}  // namespace stepscope
