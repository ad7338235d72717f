// Jobs whose samples are too old, with a time of their own and without.

#include "server/store/jobs/job_retention.h"

#include <gtest/gtest.h>

#include "server/store/jobs/interval_requests.h"
#include "server/store/jobs/jobs.h"
#include "server/store/retention/removals.h"
#include "server/store/rules/create_job.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kDay = 86'400'000'000;
constexpr std::int64_t kNow = 1'800'000'000'000'000;

class KeptSamples : public testing::Test {
 protected:
  std::int64_t Create(const std::string& name, std::int64_t days_ago,
                      std::optional<std::int64_t> keep_days) {
    NewJob job;
    job.name = name;
    const std::int64_t job_id = CreateJob(*connection_, job, kNow - days_ago * kDay)->job.job_id;
    EXPECT_TRUE(KeepSamples(*connection_, job_id, keep_days));
    return job_id;
  }
  // "job days" of each, the oldest job first.
  std::vector<std::pair<std::int64_t, std::int64_t>> Old(std::int64_t service_keeps_days) {
    const auto old = ListOldSamples(*connection_, kNow, service_keeps_days * kDay);
    EXPECT_TRUE(old) << old.error().message;
    std::vector<std::pair<std::int64_t, std::int64_t>> jobs;
    for (const OldSamples& job : *old) jobs.emplace_back(job.job_id, (kNow - job.before_us) / kDay);
    return jobs;
  }
  Json ConfigurationOf(std::int64_t job_id) { return LoadJob(*connection_, job_id)->configuration; }
  using Jobs = std::vector<std::pair<std::int64_t, std::int64_t>>;

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
};

TEST_F(KeptSamples, AJobMayKeepThemShorterLongerAndForEver) {
  const std::int64_t as_service = Create("as-service", 50, std::nullopt);
  const std::int64_t shorter = Create("shorter", 40, 2), longer = Create("longer", 39, 60);
  const std::int64_t for_ever = Create("for-ever", 38, 0);
  EXPECT_EQ(Old(30), (Jobs{{as_service, 30}, {shorter, 2}}));
  EXPECT_EQ(Old(0), (Jobs{{shorter, 2}}));
  EXPECT_EQ(Old(60), (Jobs{{shorter, 2}}));
  ASSERT_TRUE(KeepSamples(*connection_, for_ever, std::nullopt));
  ASSERT_TRUE(KeepSamples(*connection_, longer, 39));
  EXPECT_EQ(Old(30), (Jobs{{as_service, 30}, {shorter, 2}, {for_ever, 30}}));
}

// A search leaves up to a day to the next one: else it would find each job each hour.
TEST_F(KeptSamples, AreNotAskedForTwiceADay) {
  const std::int64_t job = Create("shorter", 40, 2);
  ASSERT_TRUE(NoteSamplesRemoved(*connection_, job, kNow - 3 * kDay));
  EXPECT_EQ(Old(30), Jobs{});
  ASSERT_TRUE(KeepSamples(*connection_, job, 1));
  EXPECT_EQ(Old(30), (Jobs{{job, 1}}));
}

TEST_F(KeptSamples, OfAJobThatEndedAreAskedForOnceWhenAllAreGone) {
  const std::int64_t job = Create("ended", 40, 2);
  const std::int64_t ended_us = kNow - 20 * kDay;
  ASSERT_TRUE(connection_->Execute("update jobs set ended_us = " + std::to_string(ended_us)));
  EXPECT_EQ(Old(30), (Jobs{{job, 2}}));
  ASSERT_TRUE(NoteSamplesRemoved(*connection_, job, ended_us + 1));
  EXPECT_EQ(Old(30), Jobs{});
}

TEST_F(KeptSamples, AreNoLongerOldWhenTheirTimeIsMadeLonger) {
  const std::int64_t job = Create("a", 40, 2);
  const auto still = [&](std::int64_t id) {
    return AreStillOld(*connection_, {id, kNow - 2 * kDay}, kNow, 30 * kDay).value();
  };
  EXPECT_TRUE(still(job));
  for (const std::optional<std::int64_t> days :
       {std::optional<std::int64_t>(3), std::optional<std::int64_t>(0),
        std::optional<std::int64_t>()}) {
    ASSERT_TRUE(KeepSamples(*connection_, job, days));
    EXPECT_FALSE(still(job)) << days.value_or(-1);
  }
  ASSERT_TRUE(KeepSamples(*connection_, job, 1));
  EXPECT_TRUE(still(job));
  EXPECT_FALSE(still(job + 1)) << "a job that was deleted meanwhile";
}

TEST_F(KeptSamples, StandBesideTheRestOfTheConfiguration) {
  const std::int64_t job = Create("a", 1, 20'000);
  EXPECT_EQ(ConfigurationOf(job), (Json{{"keep_samples_days", 20'000}}));
  ASSERT_TRUE(ChangeInterval(*connection_, job, 250, kNow));
  EXPECT_EQ(ConfigurationOf(job)["keep_samples_days"], 20'000);
  ASSERT_TRUE(KeepSamples(*connection_, job, std::nullopt));
  EXPECT_FALSE(ConfigurationOf(job).contains("keep_samples_days"));
  EXPECT_EQ(ConfigurationOf(job)["interval_ms"], 250);
}

}  // namespace
}  // namespace stepscope
