// How long ranks evaluated.

#include <gtest/gtest.h>

#include <map>

#include "tests/agent/marks/intake_fixture.h"

namespace stepscope {
namespace {

using testing_support::RingWriter;

struct IntakeEvaluation : test::IntakeFixture {
  std::map<std::int32_t, Duration> Take() {
    std::map<std::int32_t, Duration> taken;
    intake_->TakeMetrics("");  // reads the rings
    intake_->TakeEvaluated("", [&](std::int32_t rank, Duration time) { taken[rank] = time; });
    return taken;
  }
};

TEST_F(IntakeEvaluation, IsTheSumOfItsPiecesSinceTheLastLook) {
  Start();
  RingWriter ring, other_ring;
  const auto process = Connect(3, ring);
  const auto other = Connect(1, other_ring);
  process->Send(MarkNames{{{1, "evaluation"}, {2, "augment"}}});
  other->Send(MarkNames{{{1, "augment"}}});
  ring.Annotation(1, 10ms, 10s);
  ring.Annotation(1, 11s, 250us);
  ring.Annotation(2, 12s, 1s);
  other_ring.Annotation(1, 10ms, 1s);

  EXPECT_EQ(Take(), (std::map<std::int32_t, Duration>{{3, 10s + 250us}}));
  EXPECT_TRUE(Take().empty()) << "nothing was told since";
  ring.Annotation(1, 13s, 2s);
  EXPECT_EQ(Take(), (std::map<std::int32_t, Duration>{{3, 2s}}));
}

TEST_F(IntakeEvaluation, LeavesTheStatisticsToTheDrain) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  process->Send(MarkNames{{{1, "evaluation"}}});
  ring.Annotation(1, 10ms, 10s);
  Take();
  const IntakeBatch batch = intake_->Drain();
  ASSERT_EQ(batch.marks.size(), 1u);
  ASSERT_EQ(batch.marks[0].annotations.size(), 1u);
  EXPECT_EQ(batch.marks[0].annotations[0].sum_ns, Duration(10s).count());
}

}  // namespace
}  // namespace stepscope
