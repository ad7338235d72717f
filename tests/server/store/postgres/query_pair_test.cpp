// Two reads in one round trip.

#include <gtest/gtest.h>

#include "server/store/postgres/database.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class QueryPair : public testing::Test {
 protected:
  // Runs both statements often enough to be prepared.
  QueryPair() {
    EXPECT_TRUE(connection_->Execute("create sequence asked; create table words (word text)"));
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(connection_->QueryByKey(first_));
      EXPECT_TRUE(connection_->QueryByKey(second_));
    }
  }
  // The number of runs of the second statement in PostgreSQL, this one included.
  std::int64_t Asked() {
    const auto rows = connection_->QueryByKey(second_);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? rows->Int(0, 0) : 0;
  }

  const TestDatabase database_;
  const std::unique_ptr<Connection> connection_ = database_.Connect();
  const Statement first_{"select word, $1 from words", {1}};
  const Statement second_{"select nextval('asked'), $1", {2}};
};

TEST_F(QueryPair, HasAnAnswerToEachAndRemembersNone) {
  const auto rows = connection_->QueryPair(first_, second_);
  ASSERT_TRUE(rows.first) << rows.first.error().message;
  EXPECT_EQ(rows.first->size(), 0u);
  ASSERT_TRUE(rows.second && *rows.second);
  EXPECT_EQ((*rows.second)->Int(0, 0), 4);
  EXPECT_EQ((*rows.second)->Int(0, 1), 2);
  EXPECT_EQ(Asked(), 5);
  EXPECT_EQ(connection_->QueryByKey({second_.sql, {3}})->Int(0, 1), 3);
}

// PostgreSQL begins a transaction with the first statement of a message, and ends it with its last.
TEST_F(QueryPair, IsOneRoundTrip) {
  const Statement time{"select now()::text, $1", {1}};
  for (int i = 0; i < 2; ++i) ASSERT_TRUE(connection_->QueryByKey(time));
  const auto rows = connection_->QueryPair(time, time);
  ASSERT_TRUE(rows.first && rows.second && *rows.second);
  EXPECT_EQ(rows.first->Text(0, 0), (*rows.second)->Text(0, 0));
  EXPECT_NE(rows.first->Text(0, 0), connection_->QueryByKey(time)->Text(0, 0));
}

TEST_F(QueryPair, AsksTheFirstAloneUntilBothArePrepared) {
  const Statement rare{"select nextval('asked'), $1, 'rare'", {2}};
  for (int i = 0; i < 2; ++i) {
    const auto rows = connection_->QueryPair(first_, rare);
    EXPECT_TRUE(rows.first);
    EXPECT_FALSE(rows.second);
    EXPECT_EQ(connection_->QueryByKey(rare)->Int(0, 0), 4 + i);
  }
  EXPECT_TRUE(connection_->QueryPair(first_, rare).second);
}

TEST_F(QueryPair, AnErrorOfTheSecondLeavesTheFirstItsRows) {
  const Statement wrong{"select 1 / $1", {0}};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(connection_->QueryByKey({wrong.sql, {1}}));
  for (int i = 0; i < 2; ++i) {
    const auto rows = connection_->QueryPair(first_, wrong);
    EXPECT_TRUE(rows.first);
    ASSERT_TRUE(rows.second);
    EXPECT_EQ(rows.second->error().code, Code::kInvalid);
    EXPECT_EQ(connection_->last_sqlstate(), "22012");
  }
  EXPECT_EQ(Asked(), 4);
  EXPECT_EQ(connection_->last_sqlstate(), "");
}

TEST_F(QueryPair, AnErrorOfTheFirstKeepsTheSecondFromBeingAsked) {
  const Statement wrong{"select 1 / $1", {0}};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(connection_->QueryByKey({wrong.sql, {1}}));
  const auto rows = connection_->QueryPair(wrong, second_);
  ASSERT_FALSE(rows.first);
  EXPECT_EQ(rows.first.error().message, "database: division by zero (22012)");
  EXPECT_FALSE(rows.second);
  EXPECT_EQ(connection_->last_sqlstate(), "22012");
  EXPECT_EQ(Asked(), 4);
}

// Within a transaction nothing runs after an error, and the rollback takes back the planner's
// settings: they are set again.
TEST_F(QueryPair, AnErrorOfTheSecondEndsItsTransaction) {
  const Statement wrong{"select 1 / $1", {0}};
  const std::string mode = "select current_setting('plan_cache_mode'), $1";
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(connection_->QueryByKey({wrong.sql, {1}}));
  for (int i = 0; i < 2; ++i) {
    {
      const auto transaction = Transaction::Begin(*connection_);
      ASSERT_TRUE(connection_->Query("select $1", {1}));
      EXPECT_TRUE(connection_->QueryPair(first_, wrong).first);
      EXPECT_FALSE(connection_->QueryByKey(first_));
    }
    EXPECT_EQ(connection_->QueryByKey(mode, {1})->Text(0, 0),
              connection_->distributed() ? "auto" : "force_generic_plan");
    EXPECT_EQ(connection_->Query(mode, {1})->Text(0, 0), "force_custom_plan");
  }
  EXPECT_EQ(Asked(), 4);
}

TEST_F(QueryPair, IsLostWithItsConnection) {
  const std::string end = "select pg_terminate_backend(pg_backend_pid()), $1 where $1 > 1";
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(connection_->QueryByKey(end, {1}));
  ASSERT_TRUE(connection_->QueryPair({end, {1}}, second_).first);
  EXPECT_EQ(connection_->QueryPair({end, {2}}, second_).first.error().code, Code::kUnavailable);
  EXPECT_TRUE(connection_->broken());
  EXPECT_EQ(connection_->QueryByKey(second_).error().code, Code::kUnavailable);
  EXPECT_EQ(connection_->QueryPair(first_, second_).first.error().code, Code::kUnavailable);
}

TEST_F(QueryPair, OfTablesThatHaveChangedOpensTheConnectionAgain) {
  const Statement all{"select *, $1 from words", {1}};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(connection_->QueryByKey(all));
  ASSERT_TRUE(connection_->QueryPair(first_, all).first);
  ASSERT_TRUE(database_.Connect()->Execute("alter table words add number bigint"));
  EXPECT_EQ(connection_->QueryPair(first_, all).first.error().code, Code::kUnavailable);
  EXPECT_TRUE(connection_->broken());
}

}  // namespace
}  // namespace stepscope
