#include "server/store/fleet/job_hours.h"

#include <gtest/gtest.h>

#include "server/store/retention/removal_pieces.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class JobHoursTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(connection_->Execute(
        "insert into jobs (job_id, name, created_us, closed_us) overriding system value values "
        "(7, 'seven', 1, 2), (8, 'eight', 1, null); insert into rule_tasks (job_id, "
        "rule_config_id, due_us) values (8, 1, 1)"));
  }
  JobHours Hours(std::int64_t job_id, std::int64_t written_us) {
    JobHours hours;
    hours.job_id = job_id;
    hours.from_us = 10;
    hours.to_us = 20;
    hours.judged_seconds = 3;
    hours.lost_seconds = {{"communication", 1.5}};
    hours.written_us = written_us;
    hours.sentence = "so it was";
    return hours;
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
};

TEST_F(JobHoursTest, ARowIsReadAsItWasSaved) {
  ASSERT_TRUE(SaveJobHours(*connection_, Hours(7, 100)));
  const auto rows = ReadJobHours(*connection_, 100, 8, 10);
  ASSERT_TRUE(rows.ok() && rows->size() == 1);
  EXPECT_EQ(rows->front().name, "seven");
  EXPECT_EQ(rows->front().judged_seconds, 3);
  EXPECT_EQ(rows->front().lost_seconds, Hours(7, 100).lost_seconds);
  EXPECT_TRUE(ReadJobHours(*connection_, 101, 8, 10)->empty());
  EXPECT_TRUE(ReadJobHours(*connection_, 0, 7, 10)->empty());
  const std::vector<std::int64_t> ids = {7, 8};
  EXPECT_EQ(ReadJobSentences(*connection_, ids)->at(0).second, "so it was");
}

TEST_F(JobHoursTest, JobsWithoutARowAreUnsummedAndSayWhetherTheirRulesAreDone) {
  const auto jobs = ListUnsummedJobs(*connection_, 0, 10);
  ASSERT_TRUE(jobs.ok() && jobs->size() == 2);
  EXPECT_TRUE(jobs->at(0).judged);
  EXPECT_EQ(jobs->at(0).closed_us, 2);
  EXPECT_FALSE(jobs->at(1).judged);
  EXPECT_EQ(ListUnsummedJobs(*connection_, 0, 1)->size(), 1u);
}

TEST_F(JobHoursTest, GoesWithItsJob) {
  ASSERT_TRUE(SaveJobHours(*connection_, Hours(7, 100)));
  ASSERT_TRUE(SaveJobHours(*connection_, Hours(8, 100)));
  for (const std::string& piece : JobPieces()) {
    ASSERT_TRUE(connection_->Query(piece, {std::int64_t{7}, 100})) << piece;
  }
  EXPECT_EQ(*CountJobHours(*connection_), 1);
}

}  // namespace
}  // namespace stepscope
