#include "server/store/ticks/job_head.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "server/store/rules/create_job.h"
#include "server/store/ticks/ticks.h"
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

// Where Citus is, the job is found by its number. A row of pg_extension stands in for it.
class JobHeadOf : public testing::TestWithParam<bool> {};

TEST_P(JobHeadOf, HasTheNodesByNameAndTheirTicks) {
  const TestDatabase database;
  if (GetParam()) {
    const Status made = database.ConnectAsSuperuser()->Execute(
        "insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, "
        "extversion)"
        " select 16000, 'citus', usesysid, 'public'::regnamespace, false, 'stand-in' from pg_user"
        " where usename = current_user and not exists (select from pg_extension where extname ="
        " 'citus')");
    ASSERT_TRUE(made) << made.error().message;
  }
  const auto connection = database.Connect();
  if (GetParam()) {
    const auto plan = connection->QueryByKey("select current_setting('plan_cache_mode'), $1", {1});
    EXPECT_EQ(plan->Text(0, 0), "auto");
    EXPECT_EQ(LoadJobHead(*connection, "nobody").error().code, Code::kNotFound);
  }
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

INSTANTIATE_TEST_SUITE_P(Databases, JobHeadOf, testing::Bool(),
                         [](const auto& with) { return with.param ? "Citus" : "PostgreSQL"; });

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

class HeadAndTicksTest : public testing::Test {
 protected:
  HeadAndTicksTest() {
    frames_.StoreTicks({"user.a", ""}, {10, 30, 50});
    // Runs both statements often enough to be prepared.
    for (int i = 0; i < 3; ++i) EXPECT_EQ(Times(Load({})), 3u);
  }
  TickQuery Wanted() const {
    return {
        .job_id = frames_.job_id(), .node_id = frames_.node_id(), .until_us = 100, .filter = {}};
  }
  HeadAndTicks Load(const std::optional<TickQuery>& expected) {
    auto both = LoadHeadAndTicks(*connection_, "train", {.first = false, .last = false}, expected);
    EXPECT_TRUE(both) << both.error().message;
    return both ? *std::move(both) : HeadAndTicks{};
  }
  Result<TickTable> Read(const HeadAndTicks& both) {
    TickQuery query = Wanted();
    query.fetched = both.ticks ? &*both.ticks : nullptr;
    return ReadTicks(*connection_, query);
  }
  std::size_t Times(const HeadAndTicks& both) {
    const auto table = Read(both);
    EXPECT_TRUE(table) << table.error().message;
    return table ? table->at_us.size() : 0;
  }

  const TestDatabase database_;
  const std::unique_ptr<Connection> connection_ = database_.Connect();
  JobFrames frames_{*connection_};
};

// Every session is ended before the ticks are read.
TEST_F(HeadAndTicksTest, ThatWereExpectedAreReadWithoutAnotherRoundTrip) {
  const HeadAndTicks both = Load(Wanted());
  EXPECT_EQ(both.head.job.job_id, frames_.job_id());
  ASSERT_TRUE(both.ticks);
  database_.EndSessions();
  EXPECT_EQ(Times(both), 3u);
  EXPECT_EQ(Read({}).error().code, Code::kUnavailable);
}

TEST_F(HeadAndTicksTest, OfAnotherRangeAreNotTaken) {
  const std::int64_t other = frames_.AddNode("other");
  for (const auto& change : std::vector<std::function<void(TickQuery&)>>{
           [](TickQuery& query) { query.job_id += 1; },
           [&](TickQuery& query) { query.node_id = other; },
           [](TickQuery& query) { query.after_us = 10; },
           [](TickQuery& query) { query.until_us = 40; },
           [](TickQuery& query) { query.filter.metrics = {"user.b"}; },
           [](TickQuery& query) { query.filter.device = "0"; },
           [](TickQuery& query) { query.values_only = true; },
       }) {
    TickQuery wrong = Wanted();
    change(wrong);
    EXPECT_EQ(Times(Load(wrong)), 3u);
  }
}

TEST_F(HeadAndTicksTest, AreReadAgainByWhoComesLater) {
  EXPECT_EQ(Times(Load(Wanted())), 3u);
  frames_.StoreTicks({"user.a", ""}, {70});
  EXPECT_EQ(Times(Load(Wanted())), 4u);
  EXPECT_EQ(Times(Load({})), 4u);
}

TEST_F(HeadAndTicksTest, AnErrorOfTheTicksIsTheirReadersAlone) {
  if (connection_->distributed()) GTEST_SKIP() << "Citus renames no table into a view";
  // The statement of the ticks fails; the head's statement does not read frames.
  ASSERT_TRUE(connection_->Execute(
      "alter table frames rename to stored;"
      "create view frames as select session, sequence, job_id, node_id, kind / 0 as kind,"
      " schema_hash, from_us, to_us, payload from stored"));
  const HeadAndTicks both = Load(Wanted());
  EXPECT_EQ(both.head.nodes.size(), 1u);
  ASSERT_TRUE(both.ticks);
  EXPECT_EQ(Read(both).error().code, Code::kInvalid);
  EXPECT_EQ(Load({}).head.nodes.size(), 1u);
}

TEST_F(HeadAndTicksTest, OfAJobThatIsGoneAreNotFound) {
  ASSERT_TRUE(connection_->Execute("delete from jobs"));
  const auto both = LoadHeadAndTicks(*connection_, "train", {}, Wanted());
  ASSERT_FALSE(both);
  EXPECT_EQ(both.error().code, Code::kNotFound);
}

}  // namespace
}  // namespace stepscope
