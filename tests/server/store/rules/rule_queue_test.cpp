// The cost of claiming a task, however many are due.

#include <gtest/gtest.h>

#include "server/store/jobs/jobs.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_tasks.h"
#include "server/store/rules/rules.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class RuleQueue : public ::testing::Test {
 protected:
  RuleQueue() : connection_(database_.Connect()) {
    // The statement is planned now, with next to nothing in the table.
    NewJob job;
    job.name = "first";
    for (const char* name : {"a", "b", "c"}) job.rules.push_back({name, "Rule", {{"p", 1}}});
    EXPECT_TRUE(CreateJob(*connection_, job, 1'000));
    EXPECT_EQ(Claim().size(), 3u);
  }
  std::vector<RuleTask> Claim() {
    auto tasks = ClaimRuleTasks(*connection_, "w", 64, 30s);
    EXPECT_TRUE(tasks) << tasks.error().message;
    return std::move(*tasks);
  }
  // Adds three tasks for each job, all due.
  void AddTasks(std::int64_t jobs) {
    ASSERT_TRUE(connection_->Query(
        "insert into rule_tasks (job_id, rule_config_id, due_us) "
        "select 100 + job, 10 * job + rule, job "
        "from generate_series(1, $1::bigint) as job, generate_series(1, 3) as rule",
        {jobs}));
  }
  // The counters of all sessions since the database was created.
  std::int64_t Counted(const std::string& number, const std::string& view,
                       const std::string& name) {
    EXPECT_TRUE(connection_->Query("select pg_stat_force_next_flush()"));
    EXPECT_TRUE(connection_->Execute("select 1"));
    const auto reader = database_.Connect();
    const auto rows = reader->Query("select " + number + " from " + view + " where " + name + "'");
    EXPECT_TRUE(rows) << rows.error().message;
    return rows->Int(0, 0);
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(RuleQueue, AClaimReadsNoMoreWhenMoreIsDue) {
  AddTasks(2'000);
  const auto read = [&] {
    return Counted("idx_tup_read", "pg_stat_user_indexes", "indexrelname = 'rule_tasks_due");
  };
  const std::int64_t before = read();
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Claim().size(), 3u);
  EXPECT_LT(read() - before, 20 * 100);
}

TEST_F(RuleQueue, AClaimLeavesNothingInTheIndexes) {
  AddTasks(20);
  const auto changed = [&](const std::string& number) {
    return Counted(number, "pg_stat_user_tables", "relname = 'rule_tasks");
  };
  const std::int64_t all = changed("n_tup_upd"), inside = changed("n_tup_hot_upd");
  for (int i = 0; i < 20; ++i) EXPECT_EQ(Claim().size(), 3u);
  EXPECT_EQ(changed("n_tup_upd") - all, 60);
  EXPECT_EQ(changed("n_tup_hot_upd") - inside, 60);
}

}  // namespace
}  // namespace stepscope
