// Statements that go out together, and transactions that begin and end with some.

#include <gtest/gtest.h>

#include "server/store/postgres/database.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class Together : public testing::Test {
 protected:
  Together() { EXPECT_TRUE(connection_->Execute("create table numbers (number bigint unique)")); }

  static Statement Add(int number) { return {"insert into numbers values ($1)", {number}}; }
  std::int64_t Count() {
    const auto rows = database_.Connect()->Query("select count(*) from numbers");
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? rows->Int(0, 0) : -1;
  }

  const TestDatabase database_;
  const std::unique_ptr<Connection> connection_ = database_.Connect();
  const Statement count_{"select count(*) + $1 from numbers", {0}};
};

// The first rounds go one by one, the later ones in one message.
TEST_F(Together, EachSeesWhatStoodBeforeIt) {
  for (int round = 0; round < 4; ++round) {
    const Statement calls[] = {Add(2 * round), count_, Add(2 * round + 1), count_};
    const auto rows = connection_->QueryTogether(calls);
    ASSERT_TRUE(rows) << rows.error().message;
    ASSERT_EQ(rows->size(), 4u);
    EXPECT_EQ((*rows)[0].affected(), 1);
    EXPECT_EQ((*rows)[1].Int(0, 0), 2 * round + 1);
    EXPECT_EQ((*rows)[3].Int(0, 0), 2 * round + 2);
  }
  EXPECT_EQ(Count(), 8);
}

TEST_F(Together, TheFirstErrorIsTold) {
  for (int round = 0; round < 4; ++round) {
    const Statement calls[] = {count_, {"select 1 / $1", {round == 0 ? 1 : 0}}, Add(round)};
    const auto rows = connection_->QueryTogether(calls);
    ASSERT_EQ(rows.ok(), round == 0);
    if (round == 0) continue;
    EXPECT_EQ(rows.error().message, "database: division by zero (22012)");
    EXPECT_EQ(connection_->last_sqlstate(), "22012");
  }
  EXPECT_EQ(Count(), 1);
  EXPECT_TRUE(connection_->QueryTogether({}));
}

TEST_F(Together, ATransactionBeginsAndEndsWithSome) {
  for (int round = 0; round < 4; ++round) {
    std::vector<Rows> rows;
    const Statement first[] = {{"set local lock_timeout = '1s'", {}}, count_};
    auto transaction = Transaction::Begin(*connection_, first, rows);
    ASSERT_TRUE(transaction) << transaction.error().message;
    ASSERT_EQ(rows.size(), 2u);
    EXPECT_EQ(rows[1].Int(0, 0), 2 * round);
    ASSERT_TRUE(connection_->QueryByKey(Add(2 * round)));
    EXPECT_EQ(Count(), 2 * round);
    ASSERT_TRUE(transaction->Commit({Add(2 * round + 1)}));
    EXPECT_EQ(Count(), 2 * round + 2);
  }
  EXPECT_EQ(connection_->Query("show lock_timeout")->Text(0, 0), "0");
}

TEST_F(Together, NothingIsCommittedWhenTheLastWriteFails) {
  for (int round = 0; round < 4; ++round) {
    std::vector<Rows> rows;
    {
      auto transaction = Transaction::Begin(*connection_, {}, rows);
      ASSERT_TRUE(transaction) << transaction.error().message;
      const Status committed = transaction->Commit({Add(1), Add(2), Add(1)});
      ASSERT_FALSE(committed);
      EXPECT_EQ(committed.error().code, Code::kConflict);
    }
    EXPECT_EQ(Count(), 0);
    EXPECT_TRUE(connection_->QueryByKey(count_)) << "the connection is free again";
  }
}

TEST_F(Together, ACommitThatLosesItsServerIsUnavailable) {
  const Statement end{"select pg_terminate_backend(pg_backend_pid()) where $1 = 2", {1}};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(connection_->QueryByKey(end));
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(Transaction::Begin(*connection_)->Commit({Add(i)}));
  auto transaction = Transaction::Begin(*connection_);
  ASSERT_TRUE(transaction);
  EXPECT_EQ(transaction->Commit({Add(2), {end.sql, {2}}}).error().code, Code::kUnavailable);
  EXPECT_TRUE(connection_->broken());
  EXPECT_EQ(connection_->QueryTogether(std::vector{count_}).error().code, Code::kUnavailable);
  EXPECT_EQ(Count(), 2);
}

// Settings that a rollback takes back are set again.
TEST_F(Together, TheWayOfPlanningOutlivesARollback) {
  const std::string mode = "select current_setting('plan_cache_mode'), $1";
  for (int round = 0; round < 3; ++round) {
    {
      const auto transaction = Transaction::Begin(*connection_);
      ASSERT_TRUE(connection_->Query("select $1", {1}));
      ASSERT_TRUE(connection_->QueryTogether(std::vector{count_, Add(1)}));
    }
    const auto rows = connection_->QueryTogether(std::vector{Statement{mode, {1}}, count_});
    ASSERT_TRUE(rows) << rows.error().message;
    EXPECT_EQ((*rows)[0].Text(0, 0), connection_->distributed() ? "auto" : "force_generic_plan");
    EXPECT_EQ((*rows)[1].Int(0, 0), 0);
    EXPECT_EQ(connection_->Query(mode, {1})->Text(0, 0), "force_custom_plan");
  }
}

TEST_F(Together, ATransactionThatFailsAtItsBeginIsOver) {
  for (int round = 0; round < 4; ++round) {
    std::vector<Rows> rows;
    const Statement first[] = {{"select 1 / $1", {0}}};
    EXPECT_EQ(Transaction::Begin(*connection_, first, rows).error().code, Code::kInvalid);
    ASSERT_TRUE(connection_->QueryByKey(Add(round)));
    EXPECT_EQ(Count(), round + 1);
  }
}

}  // namespace
}  // namespace stepscope
