#include "agent/marks/marks_fold.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr Duration kBase = std::chrono::seconds(1'795'132'800);

Mark Span(MarkKind kind, Phase phase, Duration start, Duration length) {
  Mark mark;
  mark.kind = kind;
  mark.name = static_cast<std::uint16_t>(phase);
  mark.start_ns = static_cast<std::uint64_t>(start.count());
  mark.duration = length;
  return mark;
}
Mark PhaseMark(Phase phase, Duration start, Duration length) {
  return Span(MarkKind::kPhase, phase, start, length);
}
Mark StepMark(Duration start, Duration wall, std::uint64_t number = 0) {
  Mark mark = Span(MarkKind::kStep, Phase::kData, start, wall);
  mark.step = number;
  return mark;
}

std::optional<Step> Ended(StepFold& fold, const Mark& mark, Duration clock_base) {
  const Step* const step = fold.End(mark, clock_base);
  return step == nullptr ? std::nullopt : std::optional(*step);
}

TEST(StepFold, AddsPhasesToTheStepTheyEndIn) {
  StepFold fold(false);
  fold.AddPhase(PhaseMark(Phase::kData, 0ms, 40ms));
  fold.AddPhase(PhaseMark(Phase::kForward, 40ms, 30ms));
  fold.AddPhase(PhaseMark(Phase::kData, 70ms, 5ms));
  const auto first = Ended(fold, StepMark(0ms, 100ms, 7), kBase);
  fold.AddPhase(PhaseMark(Phase::kForward, 110ms, 20ms));
  const auto second = Ended(fold, StepMark(100ms, 50ms, 8), kBase);

  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->number, 7);
  EXPECT_EQ(first->start, Time(kBase));
  EXPECT_EQ(first->wall, 100ms);
  EXPECT_EQ(first->phase(Phase::kData), 45ms);
  EXPECT_EQ(second->phase(Phase::kData), 0ms);
  EXPECT_EQ(second->phase(Phase::kForward), 20ms);
}

TEST(StepFold, AStepHasNoPhasesOfTheOneBefore) {
  StepFold fold(false);
  fold.AddPhase(PhaseMark(Phase::kForward, 0ms, 40ms));
  EXPECT_EQ(Ended(fold, StepMark(0ms, 100ms), kBase)->phase(Phase::kForward), 40ms);
  EXPECT_EQ(Ended(fold, StepMark(100ms, 100ms), kBase)->phase(Phase::kForward), 0ms);
  fold.Cut();
  fold.AddPhase(PhaseMark(Phase::kForward, 210ms, 40ms));
  EXPECT_FALSE(Ended(fold, StepMark(200ms, 100ms), kBase));
  EXPECT_EQ(Ended(fold, StepMark(300ms, 100ms), kBase)->phase(Phase::kForward), 0ms);
}

TEST(StepFold, CountsAPhaseInsideAnotherOnce) {
  StepFold fold(false);
  fold.AddPhase(PhaseMark(Phase::kCommunication, 20ms, 10ms));
  fold.AddPhase(PhaseMark(Phase::kCommunication, 40ms, 10ms));
  fold.AddPhase(PhaseMark(Phase::kBackward, 10ms, 60ms));
  const auto step = Ended(fold, StepMark(0ms, 100ms), kBase);

  EXPECT_EQ(step->phase(Phase::kCommunication), 20ms);
  EXPECT_EQ(step->phase(Phase::kBackward), 40ms);
}

TEST(StepFold, AnEvaluationBelongsToTheStepThatItInterrupts) {
  StepFold fold(false);
  fold.AddEvaluation(3s), fold.AddEvaluation(4s);  // it is told in pieces
  const auto first = Ended(fold, StepMark(0ms, 100ms), kBase);
  const auto second = Ended(fold, StepMark(7100ms, 100ms), kBase);
  EXPECT_EQ(first->evaluation, 7s);
  EXPECT_EQ(first->wall, 100ms);
  EXPECT_EQ(second->evaluation, 0s);
}

TEST(StepFold, CountsOnlyWhatLiesInTheStep) {
  StepFold fold(false);
  ASSERT_TRUE(Ended(fold, StepMark(0ms, 100ms), kBase));
  fold.AddPhase(PhaseMark(Phase::kForward, 50ms, 80ms));
  const auto step = Ended(fold, StepMark(100ms, 100ms), kBase);

  EXPECT_EQ(step->phase(Phase::kForward), 30ms);
}

TEST(StepFold, DropsAStepThatLostMarks) {
  StepFold fold(false);
  fold.Cut();
  fold.AddPhase(PhaseMark(Phase::kData, 0ms, 10ms));

  EXPECT_FALSE(Ended(fold, StepMark(0ms, 100ms), kBase));
  EXPECT_TRUE(Ended(fold, StepMark(100ms, 100ms), kBase));
  EXPECT_EQ(fold.lost(), 1);
}

TEST(StepFold, DropsTheStepThatAnotherAgentHasReadInPart) {
  StepFold fold(true);

  EXPECT_FALSE(Ended(fold, StepMark(0ms, 100ms), kBase));
  EXPECT_TRUE(Ended(fold, StepMark(100ms, 100ms), kBase));
}

TEST(StepFold, RefusesTimesThatOnlyAFaultSays) {
  StepFold fold(false);

  EXPECT_FALSE(Ended(fold, StepMark(0ms, 100ms), 0ns));
  EXPECT_FALSE(Ended(fold, StepMark(0ms, 100ms), Duration::max()));
  Mark far = StepMark(0ms, 100ms);
  far.start_ns = ~0ull;
  EXPECT_FALSE(Ended(fold, far, kBase));
  EXPECT_EQ(fold.lost(), 3);
}

TEST(StepFold, NeverAddsUpToMoreThanTheStep) {
  StepFold fold(false);
  Mark nonsense = PhaseMark(Phase::kData, 0ms, 10ms);
  nonsense.name = 999;
  fold.AddPhase(nonsense);
  for (int i = 0; i < 10'000; ++i) fold.AddPhase(PhaseMark(Phase::kForward, 0ms, 4000s));
  fold.AddPhase(PhaseMark(Phase::kBackward, Duration(-1), 1h));
  const auto step = Ended(fold, StepMark(0ms, 100ms), kBase);

  Duration sum{};
  for (const Duration phase : step->phases) sum += phase;
  EXPECT_LE(sum, 100ms);
}

TEST(AnnotationSums, KeepsCountSumLeastAndMost) {
  AnnotationSums sums;
  sums.Add(FromMicros(2000), 30us);
  sums.Add(FromMicros(1000), 10us);

  EXPECT_EQ(sums.count, 2);
  EXPECT_EQ(sums.sum, 40us);
  EXPECT_EQ(sums.least, 10us);
  EXPECT_EQ(sums.most, 30us);
  EXPECT_EQ(sums.from, FromMicros(1000));
  EXPECT_EQ(sums.to, FromMicros(2030));
}

}  // namespace
}  // namespace stepscope
