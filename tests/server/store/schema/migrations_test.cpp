#include "server/store/schema/migrations.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "core/base/text.h"
#include "server/store/retention/compact_tasks.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr Migration kFirst = {1, "first",
                              "create table a (x integer); create table b (x integer);"};
constexpr Migration kSecond = {2, "second", "alter table a add y integer;"};
constexpr Migration kBoth[] = {kFirst, kSecond};

std::int64_t Applied(Connection& connection) {
  return connection.Query("select count(*) from schema_migrations")->Int(0, 0);
}

TEST(Migrate, AppliesWhatIsMissingOnce) {
  const TestDatabase database = TestDatabase::Empty();
  const auto connection = database.Connect();
  ASSERT_TRUE(Migrate(*connection, std::span(kBoth, 1)));
  EXPECT_EQ(Applied(*connection), 1);
  ASSERT_TRUE(Migrate(*connection, kBoth));
  ASSERT_TRUE(Migrate(*connection, kBoth));
  EXPECT_EQ(Applied(*connection), 2);
  EXPECT_TRUE(connection->Query("select y from a"));
}

TEST(Migrate, RefusesADatabaseThatIsNewer) {
  const TestDatabase database = TestDatabase::Empty();
  const auto connection = database.Connect();
  ASSERT_TRUE(Migrate(*connection, kBoth));
  const Status older = Migrate(*connection, std::span(kBoth, 1));
  ASSERT_FALSE(older);
  EXPECT_EQ(older.error().code, Code::kConflict);
  EXPECT_NE(older.error().message.find("newer"), std::string::npos);
}

TEST(Migrate, RefusesAFileThatWasChanged) {
  const TestDatabase database = TestDatabase::Empty();
  const auto connection = database.Connect();
  ASSERT_TRUE(Migrate(*connection, kBoth));
  const Migration changed[] = {{1, "first", "create table other (x integer)"}, kSecond};
  const Status refused = Migrate(*connection, changed);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("1_first"), std::string::npos);
}

TEST(Migrate, RefusesGaps) {
  const TestDatabase database = TestDatabase::Empty();
  const auto connection = database.Connect();
  const Migration hole[] = {kFirst, {3, "third", "select 1"}};
  EXPECT_FALSE(Migrate(*connection, hole));
  ASSERT_TRUE(Migrate(*connection, kBoth));
  ASSERT_TRUE(connection->Execute("delete from schema_migrations where version = 1"));
  EXPECT_EQ(Migrate(*connection, kBoth).error().code, Code::kConflict);
}

TEST(Migrate, LeavesNothingOfAFileThatFails) {
  const TestDatabase database = TestDatabase::Empty();
  const auto connection = database.Connect();
  const Migration bad[] = {kFirst, {2, "bad", "create table c (x integer); select 1 / 0;"}};
  const Status failed = Migrate(*connection, bad);
  ASSERT_FALSE(failed);
  EXPECT_NE(failed.error().message.find("2_bad"), std::string::npos);
  EXPECT_EQ(Applied(*connection), 1);
  EXPECT_FALSE(connection->Query("select * from c"));
}

// A database of an older version, whose tables Citus has distributed, becomes one of this version.
TEST(Migrate, ChangesTablesThatAreDistributed) {
  if (!std::getenv("STEPSCOPE_CITUS_URL")) GTEST_SKIP() << "a cluster of Citus is wanted";
  const TestDatabase database = TestDatabase::Empty();
  database.AddCitus();
  const auto connection = database.Connect();
  ASSERT_TRUE(connection->distributed());
  constexpr std::size_t kOld = 19, kOldOfCitus = 5;
  ASSERT_TRUE(Migrate(*connection, Migrations().first(kOld)));
  for (const Migration& migration : CitusMigrations().first(kOldOfCitus)) {
    ASSERT_TRUE(connection->Execute("begin; " + std::string(migration.sql) + "; commit"));
  }
  const Status newer = Migrate(*connection, Migrations());
  EXPECT_TRUE(newer) << newer.error().message;
  EXPECT_EQ(Applied(*connection), std::ssize(Migrations()));
}

TEST(Migrate, TakesLongerThanAnyOtherStatementMay) {
  const TestDatabase database = TestDatabase::Empty();
  const auto hasty = *Connection::Open(database.url(), 1s);
  const Migration slow[] = {{1, "slow", "select pg_sleep(1.2)"}};
  ASSERT_FALSE(hasty->Query("select pg_sleep(1.2)"));
  const auto other = *Connection::Open(database.url(), 1s);
  EXPECT_TRUE(Migrate(*other, slow));
  EXPECT_EQ(other->deadline(), 1s);
}

TEST(Migrate, NamesWhoHoldsTheLock) {
  const TestDatabase database = TestDatabase::Empty();
  const auto holder = database.Connect(), other = database.Connect();
  ASSERT_TRUE(holder->Query("select pg_advisory_lock(8319674129446367088)"));
  const auto pid = holder->Query("select pg_backend_pid()")->Int(0, 0);
  const Status waited = Migrate(*other, kBoth, 150ms);
  ASSERT_FALSE(waited);
  EXPECT_EQ(waited.error().code, Code::kUnavailable);
  EXPECT_NE(waited.error().message.find(Format("process {}", pid)), std::string::npos)
      << waited.error().message;
}

TEST(Migrate, ServersMayStartTogether) {
  const TestDatabase database = TestDatabase::Empty();
  std::atomic<int> done = 0;
  std::vector<std::jthread> servers;
  for (int i = 0; i < 4; ++i) {
    servers.emplace_back([&] { done += Migrate(*database.Connect()).ok() ? 1 : 0; });
  }
  servers.clear();
  EXPECT_EQ(done, 4);
  EXPECT_EQ(Applied(*database.Connect()), static_cast<std::int64_t>(Migrations().size()));
}

// A database from before there were folded rollups has them made; a program from then, which would
// not say when they are stale, can change rollups no more.
TEST(Migrate, FoldsTheRollupsOfBefore) {
  constexpr char kAsBefore[] = R"(
insert into rollups (job_id, node_id, metric, bin_us, chunk_us, schema_hash, payload)
values (1, 1, 'user.a', 10000000, 0, 1, ''), (1, 2, 'user.a', 10000000, 0, 1, ''))";
  const TestDatabase database = TestDatabase::Empty();
  const auto connection = database.Connect();
  ASSERT_TRUE(Migrate(*connection, Migrations().first(7)));
  ASSERT_TRUE(connection->Execute(kAsBefore));
  ASSERT_TRUE(Migrate(*connection));
  const auto rows = connection->Query("select metric from job_rollups where stale");
  EXPECT_EQ(rows->size(), 1u);
  ASSERT_TRUE(FindCompactTasks(*connection));
  EXPECT_EQ(connection->Query("select job_id from compact_tasks")->size(), 1u);
  EXPECT_FALSE(connection->Execute(kAsBefore));
}

// The stand-in for Citus: a row of pg_extension, at which the service looks, and functions that
// write down how they are called.
constexpr char kStandIn[] = R"(
create table calls (call bigint generated always as identity, said text);
create function create_reference_table(table_name regclass) returns void language sql
    as 'insert into calls (said) values (table_name::text)';
create function create_distributed_table(table_name regclass, distribution_column text,
    colocate_with text default 'default') returns void language sql
    as 'insert into calls (said) values (concat_ws('' '', table_name, distribution_column, colocate_with))';
create function citus_total_relation_size(name regclass) returns bigint language sql
    as 'select 42::bigint')";
constexpr char kStandInExtension[] = R"(
insert into pg_extension (oid, extname, extowner, extnamespace, extrelocatable, extversion)
select 16000, 'citus', usesysid, 'public'::regnamespace, false, 'stand-in'
from pg_user
where usename = current_user;)";

TEST(Migrate, DistributesTheTablesOnceWhereCitusIsInstalled) {
  const TestDatabase database = TestDatabase::Empty();
  const auto connection = database.Connect();
  ASSERT_TRUE(connection->Execute(kStandIn));
  ASSERT_TRUE(database.ConnectAsSuperuser()->Execute(kStandInExtension));
  ASSERT_TRUE(Migrate(*connection));
  ASSERT_TRUE(Migrate(*connection));
  const auto calls = connection->Query("select said from calls order by call");
  ASSERT_EQ(calls->size(), 21u);
  EXPECT_EQ(calls->Text(0, 0), "jobs");
  EXPECT_EQ(calls->Text(1, 0), "nodes job_id default");
  EXPECT_EQ(calls->Text(2, 0), "ranks job_id nodes");
  EXPECT_EQ(Applied(*connection), static_cast<std::int64_t>(Migrations().size()));
  EXPECT_EQ(connection->Query("select table_bytes('frames')")->Int(0, 0), 42);
}

TEST(Migrate, DistributesADatabaseThatGetsCitusLater) {
  const TestDatabase database;
  const auto connection = database.Connect();
  if (connection->distributed()) GTEST_SKIP() << "it has Citus";
  EXPECT_FALSE(connection->Query("select 1 from schema_migrations_citus"));
  ASSERT_TRUE(connection->Execute(kStandIn));
  ASSERT_TRUE(database.ConnectAsSuperuser()->Execute(kStandInExtension));
  ASSERT_TRUE(Migrate(*connection));
  EXPECT_EQ(connection->Query("select version, name from schema_migrations_citus")->Text(0, 1),
            "distribute");
}

}  // namespace
}  // namespace stepscope
