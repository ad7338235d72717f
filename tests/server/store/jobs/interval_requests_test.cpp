#include "server/store/jobs/interval_requests.h"

#include <gtest/gtest.h>

#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMinuteUs = 60'000'000;

class Intervals : public testing::Test {
 protected:
  Intervals() : connection_(database_.Connect()) {
    NewJob job;
    job.name = "mlp";
    job_id_ = CreateJob(*connection_, job, 1)->job.job_id;
  }

  Status Change(std::int64_t interval_ms, std::int64_t now_us) {
    return ChangeInterval(*connection_, job_id_, interval_ms, now_us);
  }
  Json Configuration() { return LoadJob(*connection_, job_id_)->configuration; }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  std::int64_t job_id_ = 0;
};

TEST_F(Intervals, AJobThatWasNeverChangedHasOne) {
  EXPECT_EQ(IntervalMs(Configuration()), 500);
  EXPECT_EQ(LongestIntervalMs(Configuration(), 0, INT64_MAX), 500);
  EXPECT_EQ(IntervalChanges(Configuration()), 0);
  EXPECT_EQ(IntervalMs(Json()), 500) << "no configuration at all";
}

TEST_F(Intervals, AChangeIsKnownByItsTime) {
  ASSERT_TRUE(Change(5'000, 10 * kMinuteUs));
  ASSERT_TRUE(Change(100, 20 * kMinuteUs));
  const Json configuration = Configuration();
  EXPECT_EQ(IntervalMs(configuration), 100);
  EXPECT_EQ(IntervalChanges(configuration), 2);
  EXPECT_EQ(LongestIntervalMs(configuration, 0, 9 * kMinuteUs), 500);
  EXPECT_EQ(LongestIntervalMs(configuration, 0, 15 * kMinuteUs), 5'000);
  EXPECT_EQ(LongestIntervalMs(configuration, 12 * kMinuteUs, 15 * kMinuteUs), 5'000);
  EXPECT_EQ(LongestIntervalMs(configuration, 20 * kMinuteUs + 1, 30 * kMinuteUs), 5'000)
      << "agents hear of it within a minute";
  EXPECT_EQ(LongestIntervalMs(configuration, 22 * kMinuteUs, 30 * kMinuteUs), 100);
}

TEST_F(Intervals, TheSameAgainIsNoChange) {
  ASSERT_TRUE(Change(500, 1));
  EXPECT_EQ(IntervalChanges(Configuration()), 0);
  ASSERT_TRUE(Change(250, 1));
  ASSERT_TRUE(Change(250, 2));
  EXPECT_EQ(IntervalChanges(Configuration()), 1);
}

TEST_F(Intervals, AJobThatEndedIsNotChanged) {
  ASSERT_TRUE(connection_->Execute("update jobs set status = 'Completed'"));
  const Status changed = Change(250, 1);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::kConflict);
  EXPECT_EQ(IntervalMs(Configuration()), 500);
}

TEST_F(Intervals, ChangesAreBounded) {
  for (std::int64_t i = 0; i < kMostIntervalChanges; ++i) ASSERT_TRUE(Change(200 + i, 1)) << i;
  const Status changed = Change(100, 1);
  ASSERT_FALSE(changed);
  EXPECT_NE(changed.error().message.find("100 times"), std::string::npos);
  EXPECT_EQ(IntervalChanges(Configuration()), kMostIntervalChanges);
}

TEST(IntervalsOfAnything, AreHarmless) {
  for (const char* text : {"[]", "{\"intervals\":7}", "{\"intervals\":[]}", "{\"intervals\":[1]}",
                           "{\"interval_ms\":\"x\"}", "{\"interval_ms\":-1}"}) {
    const auto json = ParseJson(text);
    ASSERT_TRUE(json) << text;
    EXPECT_GT(LongestIntervalMs(*json, 0, 1), 0) << text;
    EXPECT_GE(IntervalChanges(*json), 0) << text;
  }
}

}  // namespace
}  // namespace stepscope
