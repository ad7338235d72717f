// Statements that go along with the one before them, because they will most likely be asked next.

#include <gtest/gtest.h>

#include "server/store/postgres/database.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class Guess : public testing::Test {
 protected:
  // Both come often enough to be prepared.
  Guess() {
    EXPECT_TRUE(connection_->Execute("create sequence asked; create table words (word text)"));
    for (int i = 0; i < 3; ++i) {
      EXPECT_TRUE(connection_->QueryByKey(first_));
      EXPECT_TRUE(connection_->QueryByKey(next_));
    }
  }
  // How often the next one was asked of PostgreSQL, that time included.
  std::int64_t Asked() {
    const auto rows = connection_->QueryByKey(next_);
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? rows->Int(0, 0) : 0;
  }

  const TestDatabase database_;
  const std::unique_ptr<Connection> connection_ = database_.Connect();
  const Statement first_{"select word, $1 from words", {1}};
  const Statement next_{"select nextval('asked'), $1", {2}};
};

TEST_F(Guess, ThatIsRightIsAskedOnce) {
  EXPECT_EQ(Asked(), 4);
  const auto rows = connection_->QueryByKey(first_, next_);
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->size(), 0u);
  EXPECT_EQ(connection_->Query("select 1")->Int(0, 0), 1);  // dropped
  EXPECT_EQ(Asked(), 6);
  ASSERT_TRUE(connection_->QueryByKey(first_, next_));
  EXPECT_EQ(Asked(), 7);
  EXPECT_EQ(Asked(), 8);
}

TEST_F(Guess, OfOtherValuesIsDropped) {
  const Statement other{next_.sql, {3}};
  ASSERT_TRUE(connection_->QueryByKey(first_, other));
  EXPECT_EQ(connection_->QueryByKey(next_)->Int(0, 1), 2);
  ASSERT_TRUE(connection_->QueryByKey(first_, other));
  EXPECT_EQ(connection_->Query(other.sql, other.parameters)->Int(0, 0), 7);  // planned otherwise
  ASSERT_TRUE(connection_->QueryByKey(first_, other));
  connection_->DropGuess();
  EXPECT_EQ(connection_->QueryByKey(other)->Int(0, 0), 9);
}

TEST_F(Guess, ThatNobodyHasAskedYetComesByItself) {
  const Statement rare{"select nextval('asked'), $1, 'rare'", {2}};
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(connection_->QueryByKey(first_, rare));
    EXPECT_EQ(connection_->QueryByKey(rare)->Int(0, 0), 4 + i);
  }
}

TEST_F(Guess, ThatFailsFailsWhenItIsAsked) {
  const Statement wrong{"select 1 / $1", {0}};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(connection_->QueryByKey({wrong.sql, {1}}));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(connection_->QueryByKey(first_, wrong));
    EXPECT_EQ(connection_->last_sqlstate(), "");
    EXPECT_EQ(connection_->QueryByKey(wrong).error().code, Code::kInvalid);
    EXPECT_EQ(connection_->last_sqlstate(), "22012");
  }
  EXPECT_EQ(Asked(), 4);
}

TEST_F(Guess, BehindOneThatFailsIsNotAsked) {
  const Statement wrong{"select 1 / $1", {0}};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(connection_->QueryByKey({wrong.sql, {1}}));
  const auto failed = connection_->QueryByKey(wrong, next_);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().message, "database: division by zero (22012)");
  EXPECT_EQ(connection_->last_sqlstate(), "22012");
  EXPECT_EQ(Asked(), 4);
}

TEST_F(Guess, IsLostWithItsConnection) {
  const Statement end{"select pg_terminate_backend(pg_backend_pid()), $1", {1}};
  for (int i = 0; i < 2; ++i)
    EXPECT_TRUE(connection_->QueryByKey({end.sql + " where $1 > 1", {1}}));
  ASSERT_TRUE(connection_->QueryByKey({end.sql + " where $1 > 1", {1}}, next_));
  EXPECT_EQ(connection_->QueryByKey({end.sql + " where $1 > 1", {2}}, next_).error().code,
            Code::kUnavailable);
  EXPECT_TRUE(connection_->broken());
  EXPECT_EQ(connection_->QueryByKey(next_).error().code, Code::kUnavailable);
  EXPECT_EQ(connection_->QueryByKey(first_, next_).error().code, Code::kUnavailable);
}

TEST_F(Guess, OfTablesThatHaveChangedOpensTheConnectionAgain) {
  const Statement all{"select *, $1 from words", {1}};
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(connection_->QueryByKey(all));
  ASSERT_TRUE(connection_->QueryByKey(first_, all));
  ASSERT_TRUE(database_.Connect()->Execute("alter table words add number bigint"));
  EXPECT_EQ(connection_->QueryByKey(first_, all).error().code, Code::kUnavailable);
  EXPECT_TRUE(connection_->broken());
}

}  // namespace
}  // namespace stepscope
