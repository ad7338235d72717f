#include "server/store/ticks/job_head.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/store/rules/create_job.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

TEST(JobHead, NamesTheJobThatIsNotThere) {
  const TestDatabase database;
  const auto head = LoadJobHead(*database.Connect(), "nobody");
  ASSERT_FALSE(head);
  EXPECT_EQ(head.error().code, Code::kNotFound);
  EXPECT_NE(head.error().message.find("nobody"), std::string::npos);
}

TEST(JobHead, OfAJobWithoutNodesIsTheJob) {
  const TestDatabase database;
  const auto connection = database.Connect();
  NewJob job;
  job.name = "mlp";
  job.configuration = {{"interval_ms", 100}};
  ASSERT_TRUE(CreateJob(*connection, job, 1));
  const auto head = LoadJobHead(*connection, "mlp");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->job.configuration["interval_ms"], 100);
  EXPECT_TRUE(head->nodes.empty() && head->ranges.empty());
}

TEST(JobHead, HasTheNodesByNameAndTheirTicks) {
  const TestDatabase database;
  const auto connection = database.Connect();
  JobFrames frames(*connection);
  frames.StoreTicks({"user.a", ""}, {50, 70});
  frames.StoreTicks({"user.a", ""}, {10, 30});
  const std::int64_t silent = frames.AddNode("a-silent");
  ASSERT_TRUE(connection->Execute(
      "update jobs set configuration = '{\"interval_ms\": 100}', stop_requests = 3"));
  const auto head = LoadJobHead(*connection, "train");
  ASSERT_TRUE(head) << head.error().message;
  EXPECT_EQ(head->job.job_id, frames.job_id());
  EXPECT_EQ(head->job.configuration["interval_ms"], 100);
  EXPECT_EQ(head->job.stop_requests, 3);
  ASSERT_EQ(head->nodes.size(), 2u);
  EXPECT_EQ(head->nodes[0].name, "a-silent");
  EXPECT_EQ(head->nodes[0].node_id, silent);
  EXPECT_EQ(head->nodes[1].node_id, frames.node_id());
  ASSERT_EQ(head->ranges.size(), 1u);
  EXPECT_EQ(head->ranges[0].node_id, frames.node_id());
  EXPECT_EQ(head->ranges[0].from_us, 10);
  EXPECT_EQ(head->ranges[0].to_us, 70);
}

TEST(JobHead, LooksOnlyForTheTicksThatAreWanted) {
  const TestDatabase database;
  const auto connection = database.Connect();
  JobFrames frames(*connection);
  frames.StoreTicks({"user.a", ""}, {10, 70});
  const std::int64_t other = frames.AddNode("other");
  frames.StoreTicks({{20, 80}, {{"user.a", ""}}, {{0, {1, 2}, {}}}}, other);
  const auto ranges = [&](const RangesWanted& wanted) {
    const auto head = LoadJobHead(*connection, "train", wanted);
    EXPECT_TRUE(head) << head.error().message;
    EXPECT_EQ(head->nodes.size(), 2u);
    std::vector<TickRange> found = head->ranges;
    std::ranges::sort(found, {}, &TickRange::node_id);
    return found;
  };
  EXPECT_TRUE(ranges({.first = false, .last = false}).empty());
  const auto last = ranges({.first = false});
  ASSERT_EQ(last.size(), 2u);
  EXPECT_EQ(last[0].from_us, 0);
  EXPECT_EQ(last[0].to_us, 70);
  EXPECT_EQ(last[1].to_us, 80);
  const auto first = ranges({.last = false, .node = "other"});
  ASSERT_EQ(first.size(), 1u);
  EXPECT_EQ(first[0].node_id, other);
  EXPECT_EQ(first[0].from_us, 20);
  EXPECT_EQ(first[0].to_us, 0);
}

}  // namespace
}  // namespace stepscope
