#include "server/evaluate/job_view.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "core/base/text.h"
#include "server/store/rules/create_job.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

// Ranks that say as much as they may in what rules are told: nothing of it is kept that is not
// told.
TEST(JobView, KeepsNoFactsOfRanksButWhatIsJudged) {
  const TestDatabase database;
  const auto connection = database.Connect();
  NewJob job;
  job.name = "train";
  job.configuration = {{"interval_ms", 500}};
  const std::int64_t job_id = CreateJob(*connection, job, 1'000)->job.job_id;
  constexpr int kRanks = 4'500;
  ASSERT_TRUE(connection->Execute(Format(R"(
insert into ranks (job_id, rank, node_id, facts, first_seen_us)
select {}, rank, 1, jsonb_build_object('loader_num_workers', rank::text,
        'gpu_clock', 'off: ' || repeat('a', 450), 'second_process', repeat('b', 450),
        'loader', repeat('c', 900), 'backend', repeat('d', 900)), 1
from generate_series(0, {}) as rank)",
                                         job_id, kRanks - 1)));
  const auto view = LoadView(*connection, job_id, Time{}, 45s);
  ASSERT_TRUE(view.ok()) << view.error().message;
  ASSERT_EQ(view->ranks.size(), std::size_t{kRanks});
  const std::vector<RankFacts>& facts = view->facts.ranks;
  ASSERT_EQ(facts.size(), std::size_t{kRanks});
  EXPECT_TRUE(
      std::ranges::all_of(view->ranks, [](const RankRow& rank) { return rank.facts.is_null(); }));
  EXPECT_EQ(facts.back().loader_workers, kRanks - 1);
  EXPECT_EQ(facts.front().second_process.size(), 450U);
  std::size_t bytes = 0;
  for (const RankFacts& rank : facts) {
    EXPECT_FALSE(rank.second_process.empty() || rank.gpu_clock.empty())
        << "that there is one counts";
    bytes += rank.second_process.size() + rank.gpu_clock.size();
  }
  EXPECT_LE(bytes, kMostSentences * 900 + kRanks * 16U);
}

}  // namespace
}  // namespace stepscope
