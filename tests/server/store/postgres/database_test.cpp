#include "server/store/postgres/database.h"

#include <gtest/gtest.h>

#include "core/base/clock.h"
#include "core/base/worker.h"
#include "tests/support/eventually.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

TEST(Connection, BringsBackWhatWasBound) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const std::string bytes("\0\xff'\\", 4);
  const auto rows = connection->Query(
      "select $1 + 1, $2::text, $3, $4, $5, $6::text, sum(x)::numeric from generate_series(1, 3) x",
      {std::int64_t{1} << 60, "it's", Parameter::Bytes(bytes), true, 0.1, nullptr});
  ASSERT_TRUE(rows) << rows.error().message;
  EXPECT_EQ(rows->Int(0, 0), (std::int64_t{1} << 60) + 1);
  EXPECT_EQ(rows->Text(0, 1), "it's");
  EXPECT_EQ(rows->Bytes(0, 2), bytes);
  EXPECT_TRUE(rows->Bool(0, 3));
  EXPECT_EQ(rows->Real(0, 4), 0.1);
  EXPECT_TRUE(rows->IsNull(0, 5));
  EXPECT_EQ(rows->Int(0, 6), 6);
}

TEST(Connection, BringsBackArrays) {
  const TestDatabase database;
  const std::vector<std::int64_t> numbers = {INT64_MIN, 0, INT64_MAX};
  const std::vector<std::string> texts = {"", "a,\"b\"", "{}"};
  const std::string blob("\0x", 2);
  const std::vector<std::string_view> blobs = {blob, "", "y"};
  const auto rows = database.Connect()->Query(
      "select * from unnest($1::bigint[], $2::text[], $3::bytea[])",
      {Parameter::Array(numbers), Parameter::Array(texts), Parameter::BytesArray(blobs)});
  ASSERT_TRUE(rows) << rows.error().message;
  ASSERT_EQ(rows->size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(rows->Int(i, 0), numbers[i]);
    EXPECT_EQ(rows->Text(i, 1), texts[i]);
    EXPECT_EQ(rows->Bytes(i, 2), blobs[i]);
  }
  const std::vector<std::int64_t> none;
  EXPECT_EQ(database.Connect()
                ->Query("select cardinality($1::bigint[])", {Parameter::Array(none)})
                ->Int(0, 0),
            0);
}

// From its second run on a statement is prepared: with each kind of parameter, and after any error.
TEST(Connection, StatementsThatComeAgainAreTheSame) {
  const TestDatabase database;
  const auto connection = database.Connect();
  for (int i = 0; i < 8; ++i) {
    const auto sum = connection->Query("select $1 + 1, $2::text", {i, "same"});
    ASSERT_TRUE(sum) << sum.error().message;
    EXPECT_EQ(sum->Int(0, 0), i + 1);
    EXPECT_EQ(connection->Query("select $1 + 1, $2::text", {0.5 * i, nullptr})->Real(0, 0),
              0.5 * i + 1);
    EXPECT_FALSE(connection->Query("select 1 / ($1 - $1)", {i}));
    EXPECT_FALSE(connection->Query("select nothing from nowhere"));
    EXPECT_FALSE(connection->broken());
  }
  EXPECT_GE(connection->Query("select count(*) from pg_prepared_statements")->Int(0, 0), 3);
}

// A plan for any values reads all nodes where one was asked for; PostgreSQL would choose it after
// five uses.
TEST(Connection, PlansForTheValuesAtHand) {
  const TestDatabase database;
  const auto connection = database.Connect();
  if (connection->distributed()) GTEST_SKIP() << "PostgreSQL chooses where Citus is";
  for (int i = 0; i < 8; ++i) {
    const auto plan = connection->Query(
        "select generic_plans, custom_plans from pg_prepared_statements where $1 > 0", {i});
    ASSERT_TRUE(plan) << plan.error().message;
    for (std::size_t row = 0; row < plan->size(); ++row) EXPECT_EQ(plan->Int(row, 0), 0);
    EXPECT_TRUE(i < 7 || plan->Int(0, 1) >= 5);
  }
}

TEST(Connection, PlansOnceForWhatIsFoundByItsKey) {
  const TestDatabase database;
  const auto connection = database.Connect();
  if (connection->distributed()) GTEST_SKIP() << "PostgreSQL chooses where Citus is";
  for (int i = 0; i < 8; ++i) {
    const auto plan = connection->QueryByKey(
        "select generic_plans, custom_plans from pg_prepared_statements where $1 >= 0", {i});
    ASSERT_TRUE(plan) << plan.error().message;
    for (std::size_t row = 0; row < plan->size(); ++row) EXPECT_EQ(plan->Int(row, 1), 0);
    EXPECT_TRUE(i < 7 || plan->Int(0, 0) >= 5);
  }
}

// Holds also where the plan changes within a transaction that is rolled back or has failed.
TEST(Connection, PlansEachStatementItsWay) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const std::string sql = "select current_setting('plan_cache_mode') where $1 = 1";
  const std::string by_key = connection->distributed() ? "auto" : "force_generic_plan";
  const auto expect_both = [&] {
    EXPECT_EQ(connection->QueryByKey(sql, {1})->Text(0, 0), by_key);
    EXPECT_EQ(connection->Query(sql, {1})->Text(0, 0), "force_custom_plan");
  };
  expect_both();
  for (const bool fails : {false, true}) {
    const auto transaction = Transaction::Begin(*connection);
    ASSERT_TRUE(transaction);
    EXPECT_EQ(connection->QueryByKey(sql, {1})->Text(0, 0), by_key);
    if (!fails) continue;
    EXPECT_FALSE(connection->Query("select 1 / ($1 - 1)", {1}));
    EXPECT_FALSE(connection->QueryByKey(sql, {1}));
  }
  expect_both();
}

// A table that was empty when its statement was planned is still read through its index.
TEST(Connection, PlansForTablesThatWillGrow) {
  const TestDatabase database;
  const auto connection = database.Connect();
  ASSERT_TRUE(connection->Execute("create table growing (x bigint primary key)"));
  const std::string sql = "select x from growing where x = $1";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(connection->QueryByKey(sql, {i}));
  ASSERT_TRUE(connection->Execute("insert into growing select generate_series(1, 20000)"));
  ASSERT_EQ(connection->QueryByKey(sql, {7})->size(), 1u);
  ASSERT_TRUE(connection->Execute("select pg_stat_force_next_flush()"));
  EXPECT_EQ(
      connection->Query("select idx_scan from pg_stat_user_tables where relname = $1", {"growing"})
          ->Int(0, 0),
      4);
  ;
}

// A statement that is refused because its transaction failed, or that is rolled back, is not
// remembered.
TEST(Connection, StatementsOfAFailedTransactionWorkAfterwards) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const std::string sql = "select 'after a failure'";
  ASSERT_TRUE(connection->Query(sql));
  {
    const auto transaction = Transaction::Begin(*connection);
    ASSERT_TRUE(transaction);
    EXPECT_FALSE(connection->Query("select 1 / 0"));
    EXPECT_FALSE(connection->Query(sql));
  }
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(connection->Query(sql));
}

// Changes a table as a migration by another replica does.
TEST(Connection, IsOpenedAgainWhenTheTablesHaveChanged) {
  const TestDatabase database;
  const auto connection = database.Connect();
  ASSERT_TRUE(connection->Execute("create table changing (x bigint)"));
  const std::string sql = "select x from changing";
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(connection->Query(sql));
  ASSERT_TRUE(database.Connect()->Execute("alter table changing alter x type text using 'now'"));
  const auto changed = connection->Query(sql);
  ASSERT_FALSE(changed);
  EXPECT_EQ(changed.error().code, Code::kUnavailable);
  EXPECT_TRUE(connection->broken());
}

TEST(Connection, SaysWhatTheCallerCanDoAboutAnError) {
  const TestDatabase database;
  const auto connection = database.Connect();
  const std::pair<const char*, Code> cases[] = {
      {"select 1 / 0", Code::kInvalid},
      {"insert into jobs (name, created_us) values (null, 1)", Code::kConflict},
      {"select nothing from nowhere", Code::kInternal},
      {"do $$ begin raise sqlstate '40001'; end $$", Code::kUnavailable},
      {"do $$ begin raise sqlstate '25006'; end $$", Code::kUnavailable},
  };
  for (const auto& [sql, code] : cases) {
    const auto rows = connection->Query(sql);
    ASSERT_FALSE(rows) << sql;
    EXPECT_EQ(rows.error().code, code) << sql;
    EXPECT_EQ(connection->last_sqlstate().size(), 5u);
  }
  EXPECT_TRUE(connection->Query("select 1"));
  EXPECT_EQ(connection->last_sqlstate(), "");
}

TEST(Connection, TextWithNulIsRefusedNotCut) {
  const TestDatabase database;
  const auto rows = database.Connect()->Query("select $1::text", {std::string("a\0b", 3)});
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, Code::kInvalid);
}

TEST(Connection, DeadlineClosesTheSocket) {
  const TestDatabase database;
  auto connection = Connection::Open(database.url(), 1s);
  ASSERT_TRUE(connection) << connection.error().message;
  // statement_timeout cannot help where the server does not see it: it is switched off here.
  ASSERT_TRUE((*connection)->Execute("set statement_timeout = 0"));
  const auto rows = (*connection)->Query("select pg_sleep(60)");
  ASSERT_FALSE(rows);
  EXPECT_EQ(rows.error().code, Code::kUnavailable);
  EXPECT_TRUE((*connection)->broken());
  EXPECT_EQ((*connection)->Query("select 1").error().code, Code::kUnavailable);
}

TEST(Connection, StatementTimeoutComesBeforeTheDeadline) {
  const TestDatabase database;
  auto connection = Connection::Open(database.url(), 1s);
  const auto rows = (*connection)->Query("select pg_sleep(60)");
  ASSERT_FALSE(rows);
  EXPECT_EQ((*connection)->last_sqlstate(), "57014");
  EXPECT_FALSE((*connection)->broken());
}

TEST(Connection, ServerThatIsNotThereIsUnavailable) {
  const auto connection = Connection::Open("postgresql:///x?host=/nonexistent", 1s);
  ASSERT_FALSE(connection);
  EXPECT_EQ(connection.error().code, Code::kUnavailable);
  EXPECT_EQ(connection.error().message.find('\n'), std::string::npos);
}

TEST(Transaction, IsRolledBackUnlessCommitted) {
  const TestDatabase database;
  const auto connection = database.Connect();
  ASSERT_TRUE(connection->Execute("create table things (a integer)"));
  {
    auto transaction = Transaction::Begin(*connection);
    ASSERT_TRUE(transaction && connection->Query("insert into things values (1)"));
  }
  EXPECT_EQ(connection->Query("select count(*) from things")->Int(0, 0), 0);
  {
    auto transaction = Transaction::Begin(*connection);
    ASSERT_TRUE(transaction && connection->Query("insert into things values (1)"));
    EXPECT_TRUE(transaction->Commit());
  }
  EXPECT_EQ(connection->Query("select count(*) from things")->Int(0, 0), 1);
}

TEST(Connection, DoesNotRepeatAnAddressThatCannotBeRead) {
  for (const char* url : {"postgresql://me:secret%zz@127.0.0.1/x", "me:secret@127.0.0.1/x",
                          "postgresql://me:secret@[::1/x", "password=secret host"}) {
    const auto connection = Connection::Open(url);
    ASSERT_FALSE(connection) << url;
    EXPECT_EQ(connection.error().code, Code::kInvalid) << url;
    EXPECT_EQ(connection.error().message.find("secret"), std::string::npos) << url;
  }
}

TEST(Database, LendsNoMoreThanItHasAndTakesBack) {
  const TestDatabase postgres;
  Database database(postgres.url(), 1);
  {
    auto first = database.Acquire();
    ASSERT_TRUE(first);
    const auto second = database.Acquire();
    ASSERT_FALSE(second);
    EXPECT_EQ(second.error().code, Code::kUnavailable);
  }
  EXPECT_TRUE(database.Acquire());
}

TEST(Database, ACutEndsWhatWaitsForPostgres) {
  const TestDatabase postgres;
  Database database(postgres.url(), 1);
  auto lease = database.Acquire();
  ASSERT_TRUE(lease);
  const auto locker = postgres.Connect();
  ASSERT_TRUE(locker->Execute("begin; lock table jobs in access exclusive mode"));
  std::optional<Result<Rows>> answer;
  {
    const Worker waits("waits", [&](const std::stop_token&) {
      answer = (*lease)->Query("select count(*) from jobs");
    });
    ASSERT_TRUE(Eventually([&] {
      return !postgres.Connect()->Query("select 1 from pg_locks where not granted")->empty();
    }));
    database.Cut();
  }
  ASSERT_TRUE(answer && !*answer);
  EXPECT_EQ(answer->error().code, Code::kUnavailable);
  EXPECT_TRUE((*lease)->broken());
  EXPECT_TRUE(locker->Query("rollback"));  // no other connection is closed
}

TEST(Database, ReplacesConnectionsThatWereKilled) {
  const TestDatabase postgres;
  Database database(postgres.url(), 2);
  {
    auto lease = database.Acquire();
    ASSERT_TRUE(lease && (*lease)->Query("select 1"));
  }
  EXPECT_GE(postgres.EndSessions(), 1);  // Citus has some of its own
  auto lease = database.Acquire();
  ASSERT_TRUE(lease);
  EXPECT_TRUE((*lease)->Query("select 1"));
}

}  // namespace
}  // namespace stepscope
