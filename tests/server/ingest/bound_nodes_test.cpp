// Nodes belong to the sender of the first frame that is stored of them.

#include "server/ingest/bound_nodes.h"

#include <algorithm>
#include <thread>

#include "core/base/text.h"
#include "server/store/jobs/node_bindings.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;
using test::PushOf;

class BoundNodesTest : public IngestTest {
 protected:
  std::string OwnerOf(const std::string& node) {
    const auto binding = LoadNodeBinding(*connection_, node);
    return binding ? binding->kind + " " + binding->token_name : "nobody";
  }
};

// Both were let through, because nobody had the node when they came.
TEST_F(BoundNodesTest, OfTwoSendersTheFirstGetsTheNodeAndTheOtherStoresNothing) {
  FrameMaker first("one", "n"), second("two", "n");
  EXPECT_EQ(ingest_->Push(PushOf({first.Started(), first.Ticks(kStartUs)}), "a").status, 200);
  ExpectProblem(ingest_->Push(PushOf({second.Started(), second.Ticks(kStartUs)}), "b"), 403,
                "node-bound");
  EXPECT_EQ(OwnerOf("n"), "token a");
  EXPECT_EQ(Frames(), 1);
  EXPECT_EQ(ingest_->Push(PushOf({first.Ticks(kStartUs + 2'000'000)}), "a").status, 200);
}

TEST_F(BoundNodesTest, ThatIsSoWithinOneGroupToo) {
  IngestOptions options;
  options.group_frames = 4;
  options.group_wait = options.answer_within = 60s;
  Ingest together(store_, clock_, options);
  std::vector<int> statuses(4);
  {
    std::vector<std::jthread> pushes;
    for (std::size_t i = 0; i < statuses.size(); ++i) {
      pushes.emplace_back([&, i] {
        FrameMaker agent(Format("job-{}", i), "n");
        statuses[i] = together.Push(PushOf({agent.Started()}), Format("sender-{}", i)).status;
      });
    }
  }
  EXPECT_EQ(std::ranges::count(statuses, 200), 1);
  EXPECT_EQ(std::ranges::count(statuses, 403), 3);
}

TEST_F(BoundNodesTest, ARefusedPushBindsNothing) {
  FrameMaker early("one", "gap"), unknown("none", "unknown"), ended("over", "ended");
  ASSERT_EQ(Push({FrameMaker("one", "n").Started()}).status, 200);
  ASSERT_EQ(Push({FrameMaker("over", "n").Started()}).status, 200);
  ASSERT_TRUE(connection_
                  ->Query("update jobs set status = 'Completed', ended_us = 1 "
                          "where name = 'over'")
                  .ok());
  (void)early.Started();
  ExpectProblem(ingest_->Push(PushOf({early.Ticks(kStartUs)}), "a"), 409, "gap");
  ExpectProblem(ingest_->Push(PushOf({unknown.Ticks(kStartUs)}), "a"), 410, "unknown-job");
  ExpectRejected(ingest_->Push(PushOf({ended.Started()}), "a"), 1, "job-ended");
  EXPECT_EQ(Count("select count(*) from node_bindings"), 0);
}

TEST_F(BoundNodesTest, AFrameThatIsRejectedBindsNothing) {
  ASSERT_EQ(Push({FrameMaker("one", "n").Started()}).status, 200);
  FrameMaker agent("one", "m");
  ExpectRejected(ingest_->Push(PushOf({agent.Lifecycle(Json{{"event", "nonsense"}})}), "a"), 1,
                 "bad-lifecycle");
  EXPECT_EQ(OwnerOf("m"), "nobody");
  EXPECT_EQ(ingest_->Push(PushOf({agent.Ticks(kStartUs)}), "a").status, 200);
  EXPECT_EQ(OwnerOf("m"), "token a");
}

TEST_F(BoundNodesTest, ANodeThatWasReleasedIsTheNextSenders) {
  FrameMaker first("one", "n"), second("two", "n");
  EXPECT_EQ(ingest_->Push(PushOf({first.Started()}), "a").status, 200);
  ASSERT_TRUE(DeleteNodeBinding(*connection_, "n").ok());
  EXPECT_EQ(ingest_->Push(PushOf({second.Started()}), "certificate:n").status, 200);
  EXPECT_EQ(OwnerOf("n"), "certificate n");
}

TEST_F(BoundNodesTest, WithoutTokensNothingIsBound) {
  EXPECT_EQ(Push({FrameMaker("one", "n").Started()}).status, 200);
  EXPECT_EQ(OwnerOf("n"), "nobody");
}

TEST(BoundNodes, AreRememberedForAWhile) {
  BoundNodes bound;
  bound.Put("n", "a", 1'000);
  EXPECT_TRUE(bound.IsOf("n", "a", 1'000 + BoundNodes::kFreshUs - 1));
  EXPECT_FALSE(bound.IsOf("n", "a", 1'000 + BoundNodes::kFreshUs));
  EXPECT_FALSE(bound.IsOf("n", "a", 999)) << "the clock was set back";
  EXPECT_FALSE(bound.IsOf("n", "b", 1'000));
  EXPECT_FALSE(bound.IsOf("m", "a", 1'000));
}

}  // namespace
}  // namespace stepscope
