#include "server/store/schema/migrations.h"

#include <openssl/sha.h>

#include <thread>

#include "core/base/clock.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "server/store/schema/sql_statements.h"

namespace stepscope {
namespace {

// The tables that record applied migrations.
constexpr std::string_view kTable = "schema_migrations";
constexpr std::string_view kCitusTable = "schema_migrations_citus";
constexpr char kCreateTable[] = R"(
create table if not exists {} (
    version integer primary key,
    name text not null,
    sha256 text not null,
    applied_us bigint not null,
    server_version text not null
))";
constexpr char kListApplied[] = R"(
select version, name, sha256
from {}
order by version
limit 10000)";
constexpr char kRecord[] = R"(
insert into {} (version, name, sha256, applied_us, server_version)
values ($1, $2, $3, (extract(epoch from clock_timestamp()) * 1000000)::bigint,
    current_setting('server_version')))";
// "stepscop" as a number; the lock belongs to the session, so a killed server frees it.
constexpr char kTryLock[] = "select pg_try_advisory_lock(8319674129446367088)";
constexpr char kUnlock[] = "select pg_advisory_unlock(8319674129446367088)";
constexpr char kHolder[] = R"(
select coalesce(string_agg(format('process %s (%s)', pid,
    coalesce(nullif(client_addr::text, ''), 'local')), ', '), 'someone unknown')
from pg_locks
join pg_stat_activity using (pid)
where locktype = 'advisory' and granted
    and (classid::bigint << 32 | objid::bigint) = 8319674129446367088)";
constexpr char kFindCitus[] = "select 1 from pg_extension where extname = 'citus'";
constexpr Duration kPoll = 100ms;
constexpr Duration kLockWait = 60s;
constexpr int kTries = 10;
// A large table takes its time; the statement timeout of the session would end it.
constexpr Duration kApply = std::chrono::hours(1);
constexpr char kPatience[] = "set local lock_timeout = '3s'; set local statement_timeout = '1h'";

std::string Sha256(std::string_view text) {
  unsigned char digest[SHA256_DIGEST_LENGTH];
  SHA256(reinterpret_cast<const unsigned char*>(text.data()), text.size(), digest);
  return ToHex({reinterpret_cast<const char*>(digest), sizeof digest});
}

Status Lock(Connection& connection, Duration wait) {
  const SteadyTime until = SystemClock().Steady() + wait;
  for (;;) {
    const Result<Rows> locked = connection.Query(kTryLock);
    if (!locked) return locked.error();
    if (locked->Bool(0, 0)) return {};
    if (SystemClock().Steady() >= until) break;
    std::this_thread::sleep_for(kPoll);
  }
  const Result<Rows> holder = connection.Query(kHolder);
  return Unavailable(Format("migrations: another server is migrating this database: {}",
                            holder ? holder->Text(0, 0) : "someone unknown"));
}

// The number of applied migrations, which must be the first ones of the list.
Result<std::size_t> CountApplied(const Rows& applied, std::span<const Migration> migrations) {
  for (std::size_t i = 0; i < applied.size(); ++i) {
    const std::int64_t version = applied.Int(i, 0);
    if (version != static_cast<std::int64_t>(i) + 1) {
      return Conflict(
          Format("migrations: the database lacks migration {}, but has {}", i + 1, version));
    }
    if (i >= migrations.size()) {
      return Conflict(
          Format("migrations: the database is at {} ({}), this program knows {}; "
                 "start a newer stepscope-server",
                 version, applied.Text(i, 1), migrations.size()));
    }
    if (applied.Text(i, 2) != Sha256(migrations[i].sql)) {
      return Conflict(
          Format("migrations: {}_{} was applied with another content than this "
                 "program's",
                 version, migrations[i].name));
    }
  }
  return applied.size();
}

// One by one: Citus refuses a script in which an index of one of its tables is made.
Status Run(Connection& connection, std::string_view script) {
  for (const std::string_view statement : SqlStatements(script)) {
    if (Status done = connection.Execute(std::string(statement)); !done) return done;
  }
  return {};
}

Status ApplyOnce(Connection& connection, std::string_view table, const Migration& migration) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status set = connection.Execute(kPatience); !set) return set;
  if (Status done = Run(connection, migration.sql); !done) return done;
  const Result<Rows> recorded = connection.Query(
      Format(kRecord, table), {migration.version, migration.name, Sha256(migration.sql)});
  if (!recorded) return recorded.error();
  return transaction->Commit();
}

// Retries while only a lock was in the way.
Status Apply(Connection& connection, std::string_view table, const Migration& migration) {
  for (int tried = 1;; ++tried) {
    const Status applied = ApplyOnce(connection, table, migration);
    if (applied) {
      LogInfo("migration {}_{} applied", migration.version, migration.name);
      return {};
    }
    if (connection.last_sqlstate() == "55P03" && tried < kTries) continue;
    return Error{applied.error().code, Format("migration {}_{}: {}", migration.version,
                                              migration.name, applied.error().message)};
  }
}

Status ApplyMissing(Connection& connection, std::string_view table,
                    std::span<const Migration> migrations) {
  if (Status created = connection.Execute(Format(kCreateTable, table)); !created) return created;
  const Result<Rows> applied = connection.Query(Format(kListApplied, table));
  if (!applied) return applied.error();
  const Result<std::size_t> count = CountApplied(*applied, migrations);
  if (!count) return count.error();
  const Duration usual = connection.deadline();
  connection.set_deadline(kApply);
  Status done;
  for (const Migration& migration : migrations.subspan(*count)) {
    if (done = Apply(connection, table, migration); !done) break;
  }
  connection.set_deadline(usual);
  return done;
}

Status Distribute(Connection& connection) {
  const Result<Rows> citus = connection.Query(kFindCitus);
  if (!citus) return citus.error();
  return citus->empty() ? Status() : ApplyMissing(connection, kCitusTable, CitusMigrations());
}

Status CheckNumbers(std::span<const Migration> migrations) {
  for (std::size_t i = 0; i < migrations.size(); ++i) {
    if (migrations[i].version != static_cast<int>(i) + 1) {
      return Internal(Format("migrations: file {} is missing", i + 1));
    }
  }
  return {};
}

template <typename Work>
Status UnderLock(Connection& connection, Duration wait, Work&& work) {
  if (Status locked = Lock(connection, wait); !locked) return locked;
  const Status done = work();
  if (!connection.broken()) (void)connection.Query(kUnlock);
  return done;
}

}  // namespace

Status Migrate(Connection& connection) {
  return UnderLock(connection, kLockWait, [&] {
    const Status applied = ApplyMissing(connection, kTable, Migrations());
    return applied ? Distribute(connection) : applied;
  });
}

Status Migrate(Connection& connection, std::span<const Migration> migrations, Duration lock_wait) {
  if (Status complete = CheckNumbers(migrations); !complete) return complete;
  return UnderLock(connection, lock_wait,
                   [&] { return ApplyMissing(connection, kTable, migrations); });
}

}  // namespace stepscope
