#include "rules/diagnosis/missing.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(WhatIsMissing, IsNothingWhereAllIsSeen) {
  EXPECT_TRUE(WhatIsMissing(JobFacts(), true, false).empty());
}

TEST(WhatIsMissing, NamesProcessesWithoutHooksThreadsAndTheClock) {
  JobFacts facts;
  facts.nodes = {{"a", 8, 1, 0, "python3 runs torch without our hooks"}, {"b", 8, 1}};
  facts.ranks.resize(2);
  facts.ranks[1].hides_data = true;
  facts.ranks[1].gpu_clock = "switched off";
  const std::vector<std::string> missing = WhatIsMissing(facts, true, true);
  ASSERT_EQ(missing.size(), 3u);
  EXPECT_EQ(missing[0], "Node a: python3 runs torch without our hooks.");
  EXPECT_NE(missing[1].find("through another thread"), std::string::npos);
  EXPECT_NE(missing[2].find("(switched off)"), std::string::npos);
}

TEST(WhatIsMissing, ALoaderThatIsNotSeenIsNoThread) {
  JobFacts facts;
  facts.ranks.resize(1);
  facts.ranks[0].hides_data = facts.ranks[0].no_loader = true;
  const std::vector<std::string> missing = WhatIsMissing(facts, true, false);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_TRUE(missing[0].starts_with("No loader of PyTorch is seen"));
}

TEST(WhatIsMissing, NamesASecondProcessOfARank) {
  JobFacts facts;
  facts.ranks.resize(9);
  for (RankFacts& rank : facts.ranks) rank.second_process = "2 processes say that they are rank 0";
  const std::vector<std::string> missing = WhatIsMissing(facts, true, false);
  ASSERT_EQ(missing.size(), 5u);
  EXPECT_EQ(missing[0], "2 processes say that they are rank 0.");
}

TEST(StepsSeenInPart, AreThoseBesideProcessesOrWaitsThatAreNot) {
  JobFacts facts;
  facts.nodes.resize(1);
  facts.ranks.resize(1);
  EXPECT_FALSE(AreStepsSeenInPart(facts));
  JobFacts without_hooks = facts, behind_a_thread = facts, shared = facts;
  without_hooks.nodes[0].hooks_missing = "-I ignores PYTHONPATH";
  behind_a_thread.ranks[0].hides_data = true;
  shared.ranks[0].second_process = "2 processes say that they are rank 0";
  for (const JobFacts& each : {without_hooks, behind_a_thread, shared})
    EXPECT_TRUE(AreStepsSeenInPart(each));
}

TEST(WhatIsMissing, WithoutStepsThatIsSaidAndNoClockIsMissed) {
  const std::vector<std::string> missing = WhatIsMissing(JobFacts(), false, true);
  ASSERT_EQ(missing.size(), 1u);
  EXPECT_EQ(missing[0], "No training process has reported a step.");
}

}  // namespace
}  // namespace stepscope
