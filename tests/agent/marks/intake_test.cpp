#include "agent/marks/intake.h"

#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <functional>

#include "core/base/json.h"
#include "core/model/step.h"
#include "tests/agent/marks/intake_fixture.h"

namespace stepscope {
namespace {

using testing::HasSubstr;
using testing_support::FakeProcess;
using testing_support::kWallBaseNs;
using testing_support::RingWriter;

class IntakeTest : public test::IntakeFixture {
 protected:
  // Drains into one batch until it is as wanted; messages over a socket take their time.
  IntakeBatch DrainUntil(const std::function<bool(const IntakeBatch&)>& wanted) {
    IntakeBatch all;
    const auto deadline = std::chrono::steady_clock::now() + 20s;
    while (!wanted(all) && std::chrono::steady_clock::now() < deadline) {
      IntakeBatch batch = intake_->Drain();
      std::ranges::move(batch.rank_started, std::back_inserter(all.rank_started));
      std::ranges::move(batch.marks, std::back_inserter(all.marks));
      std::ranges::move(batch.rank_ended, std::back_inserter(all.rank_ended));
      if (!wanted(all)) std::this_thread::yield();
    }
    EXPECT_TRUE(wanted(all));
    return all;
  }
};

bool HasEnded(const IntakeBatch& batch) {
  return !batch.rank_ended.empty();
}

TEST_F(IntakeTest, TurnsMarksIntoStepsAndStatistics) {
  Start();
  RingWriter ring;
  const auto process = Connect(3, ring);
  process->Send(MarkNames{{{1, "augment"}}});
  ring.Phase(Phase::kData, 0ms, 60ms);
  ring.Annotation(1, 60ms, 4ms);
  ring.Annotation(1, 65ms, 6ms);
  ring.Annotation(1, 75ms, 6100us);
  ring.Step(0, 0ms, 100ms);

  const IntakeBatch batch = intake_->Drain();

  ASSERT_EQ(batch.rank_started.size(), 1u);
  EXPECT_EQ(batch.rank_started[0].rank, 3);
  ASSERT_EQ(batch.marks.size(), 1u);
  const RankMarks& marks = batch.marks[0];
  ASSERT_EQ(marks.steps.size(), 1u);
  EXPECT_EQ(marks.steps[0].start, Time(Duration(kWallBaseNs)));
  EXPECT_EQ(marks.steps[0].phase(Phase::kData), 60ms);
  ASSERT_EQ(marks.annotations.size(), 2u) << "a bin of 3.7 to 4.2 ms, and one of 5.2 to 6.3 ms";
  EXPECT_EQ(marks.annotations[0].name, "augment");
  EXPECT_EQ(marks.annotations[0].count, 1);
  EXPECT_EQ(marks.annotations[0].sum_ns, 4'000'000);
  EXPECT_EQ(marks.annotations[0].from_us, kWallBaseNs / 1000 + 60'000);
  EXPECT_EQ(marks.annotations[1].name, "augment");
  EXPECT_EQ(marks.annotations[1].count, 2);
  EXPECT_EQ(marks.annotations[1].sum_ns, 12'100'000);
  EXPECT_TRUE(batch.rank_ended.empty());
}

TEST_F(IntakeTest, NeverCutsAStepAtADrain) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  ring.Phase(Phase::kData, 0ms, 10ms);
  EXPECT_TRUE(intake_->Drain().marks.empty());
  ring.Phase(Phase::kForward, 10ms, 20ms);
  EXPECT_TRUE(intake_->Drain().marks.empty());
  ring.Step(0, 0ms, 50ms);

  const IntakeBatch batch = intake_->Drain();

  ASSERT_EQ(batch.marks.size(), 1u);
  EXPECT_EQ(batch.marks[0].steps[0].phase(Phase::kData), 10ms);
  EXPECT_EQ(batch.marks[0].steps[0].phase(Phase::kForward), 20ms);
  EXPECT_TRUE(batch.rank_started.empty());
}

TEST_F(IntakeTest, ReadsWhatAKilledProcessLeftBehind) {
  Start();
  RingWriter ring;
  auto process = Connect(0, ring);
  ring.Step(0, 0ms, 50ms);
  ring.Annotation(9, 0ms, 1ms);
  process->Close();

  const IntakeBatch batch = DrainUntil(HasEnded);

  ASSERT_EQ(batch.marks.size(), 1u);
  EXPECT_EQ(batch.marks[0].steps.size(), 1u);
  EXPECT_EQ(batch.marks[0].annotations[0].name, "(other)");
  EXPECT_EQ(batch.rank_ended[0].rank, 0);
}

TEST_F(IntakeTest, ByeEndsARank) {
  Start();
  RingWriter ring;
  const auto process = Connect(5, ring);
  process->Send(MarkBye{});

  EXPECT_EQ(DrainUntil(HasEnded).rank_ended[0].rank, 5);
}

TEST_F(IntakeTest, KeepsStatisticsUntilTheNameArrives) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  ring.Annotation(1, 0ms, 2ms);
  EXPECT_TRUE(intake_->Drain().marks.empty());
  process->Send(MarkNames{{{1, "late"}}});

  const IntakeBatch batch = intake_->Drain();

  ASSERT_EQ(batch.marks.size(), 1u);
  EXPECT_EQ(batch.marks[0].annotations[0].name, "late");
}

TEST_F(IntakeTest, NumbersGoOnWhenASecondTrainingStarts) {
  Start();
  RingWriter first, second;
  auto process = Connect(0, first);
  for (std::uint64_t i = 0; i < 3; ++i) first.Step(i, i * 10ms, 10ms);
  process->Close();
  DrainUntil(HasEnded);
  const auto again = Connect(0, second);
  for (std::uint64_t i = 0; i < 2; ++i) second.Step(i, 100ms + i * 10ms, 10ms);

  const IntakeBatch batch = intake_->Drain();

  EXPECT_EQ(batch.rank_started.size(), 1u);
  ASSERT_EQ(batch.marks[0].steps.size(), 2u);
  EXPECT_EQ(batch.marks[0].steps[0].number, 3);
  EXPECT_EQ(batch.marks[0].steps[1].number, 4);
}

TEST_F(IntakeTest, TakesStepsOfOneRingOfARankAndAnnotationsOfAll) {
  Start();
  RingWriter main, other;
  const auto process = Connect(0, main);
  process->Send(MarkNames{{{1, "work"}}});
  process->Send(MarkRing{2}, other.memory.get());
  main.Step(0, 0ms, 10ms);
  intake_->Drain();
  other.Step(0, 0ms, 3ms);
  other.Annotation(1, 0ms, 1ms);
  main.Step(1, 10ms, 10ms);
  main.Annotation(1, 10ms, 1ms);

  const IntakeBatch batch = intake_->Drain();

  ASSERT_EQ(batch.marks.size(), 1u);
  ASSERT_EQ(batch.marks[0].steps.size(), 1u);
  EXPECT_EQ(batch.marks[0].steps[0].wall, 10ms);
  EXPECT_EQ(batch.marks[0].annotations[0].count, 2);
  ASSERT_EQ(batch.rank_started.size(), 1u);
  EXPECT_EQ((*ParseJson(batch.rank_started[0].facts))["ignored_steps"], 1);
}

TEST_F(IntakeTest, ReportsWhatAFullRingDropped) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  intake_->Drain();
  ring.words[kRingDroppedWord] = 12;

  const IntakeBatch batch = intake_->Drain();

  ASSERT_EQ(batch.rank_started.size(), 1u);
  const Json facts = *ParseJson(batch.rank_started[0].facts);
  EXPECT_EQ(facts["dropped"], 12);
  EXPECT_EQ(facts["pid"], getpid());
}

TEST_F(IntakeTest, ANewAgentGoesOnWhereTheOldOneStopped) {
  Start();
  RingWriter ring;
  auto process = Connect(0, ring);
  ring.Step(0, 0ms, 10ms);
  EXPECT_EQ(intake_->Drain().marks[0].steps.size(), 1u);
  intake_.reset();
  ring.Step(1, 10ms, 10ms);
  ring.Step(2, 20ms, 10ms);
  Start();
  process = Connect(0, ring);

  const IntakeBatch batch = intake_->Drain();

  // The first step may have lost phases to the old agent.
  ASSERT_EQ(batch.marks.size(), 1u);
  ASSERT_EQ(batch.marks[0].steps.size(), 1u);
  EXPECT_EQ(batch.marks[0].steps[0].number, 2);
}

TEST_F(IntakeTest, EmptiesRingsBetweenDrains) {
  options_.read_interval = 1ms;
  Start();
  RingWriter ring(64);
  const auto process = Connect(0, ring);
  for (std::uint64_t i = 0; i < 640; ++i) {
    ring.Step(i, i * 10ms, 10ms);
    while (ring.words[kRingWriteWord] -
               __atomic_load_n(&ring.words[kRingReadWord], __ATOMIC_ACQUIRE) >=
           64) {
      std::this_thread::yield();
    }
  }

  EXPECT_EQ(intake_->Drain().marks[0].steps.size(), 640u);
}

TEST_F(IntakeTest, TakesTenThousandMarksBetweenTwoDrains) {
  options_.read_interval = 1ms;
  Start();
  RingWriter ring(1024);
  const auto process = Connect(0, ring);
  for (std::uint64_t i = 0; i < 10'000; ++i) {
    while (ring.words[kRingWriteWord] -
               __atomic_load_n(&ring.words[kRingReadWord], __ATOMIC_ACQUIRE) >=
           1024) {
      std::this_thread::yield();
    }
    ring.Step(i, i * 100us, 100us);
  }
  EXPECT_EQ(intake_->Drain().marks[0].steps.size(), 10'000u);
}

TEST_F(IntakeTest, RefusesProcessesOfOtherUsers) {
  options_.user = geteuid() + 1;
  Start();
  RingWriter ring;
  FakeProcess process(options_.socket_path);
  process.Hello(0, ring);

  EXPECT_THAT(Refusal(process), HasSubstr("is not this agent's user"));
  EXPECT_TRUE(intake_->Drain().rank_started.empty());
}

TEST_F(IntakeTest, HearsOtherUsersWhenAllowed) {
  options_.user = geteuid() + 1;
  options_.allow_other_users = true;
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);

  EXPECT_EQ(intake_->Drain().rank_started.size(), 1u);
}

TEST_F(IntakeTest, RefusesMoreProcessesThanItMayHave) {
  options_.max_processes = 1;
  Start();
  RingWriter ring;
  const auto first = Connect(0, ring);
  FakeProcess second(options_.socket_path);
  second.Hello(1, ring);

  EXPECT_THAT(Refusal(second), HasSubstr("connected already"));
}

TEST_F(IntakeTest, DropsAStepWhoseFirstMarkAfterALossIsNoPhase) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  ring.Step(0, 0ms, 100ms);
  ring.Annotation(0, 110ms, 5ms, true);
  ring.Step(1, 100ms, 100ms);
  ring.Step(2, 200ms, 100ms);

  const IntakeBatch batch = intake_->Drain();

  ASSERT_EQ(batch.marks.size(), 1u);
  ASSERT_EQ(batch.marks[0].steps.size(), 2u);
  EXPECT_EQ(batch.marks[0].steps[1].number, 2);
}

}  // namespace
}  // namespace stepscope
