#include "agent/top/jobs_text.h"

#include <gtest/gtest.h>

#include <random>

#include "core/base/text.h"

namespace stepscope {
namespace {

TopJob Job(const std::string& name, int ranks) {
  TopJob job{.job = name, .ranks = {}};
  for (int i = 0; i < ranks; ++i) {
    LiveRank rank{.rank = i, .pid = 100 + i, .step = 7, .at = FromMicros(5), .wall = 20ms};
    rank.phases[static_cast<std::size_t>(Phase::kData)] = 3ms;
    job.ranks.push_back(rank);
  }
  return job;
}

TEST(JobsText, ComesOutAsItWentIn) {
  const auto jobs = ParseJobs(JobsText({Job("bert", 2), Job("gpt", 0)}));

  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  ASSERT_EQ(jobs->size(), 2u);
  const LiveRank& rank = (*jobs)[0].ranks.at(1);
  EXPECT_EQ((*jobs)[0].job, "bert");
  EXPECT_EQ(rank.pid, 101);
  EXPECT_EQ(rank.step, 7);
  EXPECT_EQ(rank.wall, 20ms);
  EXPECT_EQ(rank.phases[static_cast<std::size_t>(Phase::kData)], 3ms);
}

TEST(JobsText, LeavesRanksOutAndSaysHowMany) {
  const std::string text = JobsText({Job("a", 200), Job("b", 200)});
  const auto jobs = ParseJobs(text);

  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  EXPECT_EQ((*jobs)[1].ranks.size(), 56u);
  EXPECT_EQ((*jobs)[1].more_ranks, 144);
  EXPECT_LT(text.size(), 200'000u);
}

TEST(JobsText, OfSomethingElseIsRefused) {
  for (const char* text : {"", "{}", "[]", "7", R"({"version":2,"jobs":[]})", R"({"version":1})",
                           R"({"version":1,"jobs":{}})", R"({"version":1,"jobs":[7]})",
                           R"({"version":1,"jobs":[{"job":7,"ranks":[]}]})",
                           R"({"version":1,"jobs":[{"job":"a","ranks":[7]}]})"}) {
    EXPECT_FALSE(ParseJobs(text).ok()) << text;
  }
}

TEST(JobsText, OddNumbersDoNoHarm) {
  const auto jobs = ParseJobs(
      R"({"version":1,"jobs":[{"job":"a","more_ranks":-9,"ranks":[{"rank":9007199254740992,)"
      R"("at_us":9007199254740992,"wall_ns":-5,"step":"x","phases":{"data":-7,"evil":1}}]}]})");

  ASSERT_TRUE(jobs.ok()) << jobs.error().message;
  EXPECT_EQ((*jobs)[0].ranks[0].step, 0);
}

TEST(JobsText, AnyBytesAreReadOrRefused) {
  std::mt19937 random(7);
  const std::string good = JobsText({Job("bert", 3)});
  for (int i = 0; i < 5000; ++i) {
    std::string text = good;
    for (int j = 0; j < 3; ++j) text[random() % text.size()] = static_cast<char>(random());
    [[maybe_unused]] const auto jobs = ParseJobs(text);
  }
}

}  // namespace
}  // namespace stepscope
