#include "server/store/steps/step_groups.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr std::string_view kSummary = "a summary";
const FrameKey kFrame;

StepSource Block(std::int64_t from_us, std::int64_t to_us, std::string_view summary = kSummary) {
  return {0, from_us, to_us, 10, from_us, summary, nullptr};
}
StepSource Frame(std::int64_t from_us, std::int64_t to_us) {
  return {0, from_us, to_us, 10, 0, {}, &kFrame};
}

// "s" where a summary stands for all, else how many sources are read.
std::string Text(const std::vector<StepGroup>& stretches) {
  std::string text;
  for (const StepGroup& stretch : stretches) {
    text += stretch.summary.empty() ? std::to_string(stretch.sources.size()) : "s";
  }
  return text;
}

TEST(StepStretches, ABlockAloneIsItsSummary) {
  const auto stretches = GroupSources({Frame(30, 39), Block(0, 9), Block(10, 19)}, 0);
  EXPECT_EQ(Text(stretches), "ss1");
  EXPECT_EQ(stretches[0].rows_to_read, 0);
  EXPECT_EQ(stretches[2].rows_to_read, 10);
}

TEST(StepStretches, WhatOverlapsIsRead) {
  EXPECT_EQ(Text(GroupSources({Block(0, 9), Block(10, 19), Frame(5, 7)}, 0)), "2s");
  EXPECT_EQ(Text(GroupSources({Block(0, 9), Block(9, 19)}, 0)), "2") << "at one instant";
  EXPECT_EQ(Text(GroupSources({Block(0, 50), Block(10, 19), Block(20, 29), Block(60, 69)}, 0)),
            "3s");
  EXPECT_EQ(Text(GroupSources({Frame(0, 90), Block(10, 19), Block(70, 95)}, 0)), "3");
}

TEST(StepStretches, BlocksOfOlderServicesAreRead) {
  EXPECT_EQ(Text(GroupSources({Block(0, 9, ""), Block(10, 19)}, 0)), "1s");
}

TEST(StepStretches, FewStepsAreRead) {
  EXPECT_EQ(Text(GroupSources({Block(0, 9), Block(10, 19)}, 20)), "11");
  EXPECT_EQ(Text(GroupSources({Block(0, 9), Block(10, 19)}, 19)), "ss");
  EXPECT_EQ(Text(GroupSources({}, 19)), "");
}

}  // namespace
}  // namespace stepscope
