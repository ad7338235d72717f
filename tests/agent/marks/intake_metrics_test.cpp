// Metrics that ranks set.

#include <gtest/gtest.h>

#include <limits>

#include "core/base/json.h"
#include "core/base/text.h"
#include "tests/agent/marks/intake_fixture.h"

namespace stepscope {
namespace {

using testing_support::RingWriter;

using IntakeMetrics = test::IntakeFixture;

TEST_F(IntakeMetrics, KeepsTheNewestValueOfEachMetric) {
  Start();
  RingWriter ring, other_ring;
  const auto process = Connect(3, ring);
  const auto other = Connect(1, other_ring);
  process->Send(MarkNames{{{1, "loss"}, {2, "samples_per_second"}}});
  other->Send(MarkNames{{{1, "loss"}}});
  ring.Metric(1, 10ms, 2.5);
  ring.Metric(2, 11ms, 1480);
  ring.Metric(1, 20ms, -1.25);
  other_ring.Metric(1, 5ms, 7);

  const auto taken = intake_->TakeMetrics();

  ASSERT_EQ(taken.size(), 3u);
  EXPECT_EQ(taken[0].rank, 1);
  EXPECT_EQ(taken[0].value, 7);
  EXPECT_EQ(taken[1].rank, 3);
  EXPECT_EQ(taken[1].metric, "user.loss");
  EXPECT_EQ(taken[1].value, -1.25);
  EXPECT_EQ(taken[2].metric, "user.samples_per_second");
  EXPECT_EQ(taken[2].value, 1480);
  EXPECT_TRUE(intake_->TakeMetrics().empty()) << "nothing was set since";
}

TEST_F(IntakeMetrics, TakesTheNewestValueOfAllThreadsAndProcessesOfARank) {
  Start();
  RingWriter ring, second_ring, other_ring;
  const auto process = Connect(0, ring);
  process->Send(MarkRing{}, second_ring.memory.get());
  const auto other = Connect(0, other_ring);
  process->Send(MarkNames{{{4, "loss"}}});
  other->Send(MarkNames{{{9, "loss"}}});
  second_ring.Metric(4, 30ms, 3);
  other_ring.Metric(9, 20ms, 2);
  ring.Metric(4, 10ms, 1);

  const auto taken = intake_->TakeMetrics();

  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].value, 3);
}

TEST_F(IntakeMetrics, RefusesMetricsThatAreNone) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  process->Send(MarkNames{{{1, "loss"}, {2, "a space"}, {3, std::string(59, 'x')}}});
  ring.Metric(1, 1ms, std::numeric_limits<double>::quiet_NaN());
  ring.Metric(1, 2ms, -std::numeric_limits<double>::infinity());
  ring.Metric(2, 3ms, 1);
  ring.Metric(3, 4ms, 1);
  ring.Metric(0, 5ms, 1);
  ring.Metric(kMaxMarkNames, 6ms, 1);

  EXPECT_TRUE(intake_->TakeMetrics().empty());
  const IntakeBatch batch = intake_->Drain();
  ASSERT_EQ(batch.rank_started.size(), 1u);
  EXPECT_EQ((*ParseJson(batch.rank_started[0].facts))["refused"], 6);
}

TEST_F(IntakeMetrics, KnowsSixtyFourMetricsOfARank) {
  Start();
  RingWriter ring(256);
  const auto process = Connect(0, ring);
  MarkNames names;
  for (std::uint16_t id = 1; id <= 70; ++id) names.names.push_back({id, Format("m{:02}", id)});
  process->Send(names);
  for (std::uint16_t id = 1; id <= 70; ++id) ring.Metric(id, 1ms, id);
  EXPECT_EQ(intake_->TakeMetrics().size(), 64u);
  for (std::uint16_t id = 1; id <= 70; ++id) ring.Metric(id, 2ms, id);

  const auto taken = intake_->TakeMetrics();

  ASSERT_EQ(taken.size(), 64u) << "those that it knows go on";
  EXPECT_EQ(taken.back().metric, "user.m64");
}

TEST_F(IntakeMetrics, HasWhatAProcessSetBeforeItEnded) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  process->Send(MarkNames{{{1, "loss"}}});
  ring.Metric(1, 1ms, 0.5);
  process->Send(MarkBye{});
  process->Close();
  while (!intake_->Jobs().empty() && !intake_->Jobs()[0].processes.empty()) intake_->Drain();

  const auto taken = intake_->TakeMetrics();

  ASSERT_EQ(taken.size(), 1u);
  EXPECT_EQ(taken[0].value, 0.5);
}

}  // namespace
}  // namespace stepscope
