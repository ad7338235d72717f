#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/guarded.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "server/store/postgres/rows.h"
#include "server/store/postgres/session_settings.h"

namespace stepscope {

class BlockCache;

// A value bound to a statement. Text takes the type that the statement expects there (text, jsonb,
// ...) and must not hold NUL; whole numbers are bigint, real ones float8. Arrays are made by the
// functions below and arrive as bigint[], text[] and bytea[].
class Parameter {
 public:
  Parameter(std::nullptr_t);
  Parameter(std::int64_t value);
  Parameter(int value);
  Parameter(bool value);
  Parameter(double value);
  Parameter(std::string text);
  Parameter(const char* text);
  Parameter(std::string_view text);
  static Parameter Bytes(std::string_view bytes);  // bytea
  static Parameter Array(std::span<const std::int64_t> values);
  static Parameter Array(std::span<const std::string> texts);
  static Parameter BytesArray(std::span<const std::string_view> values);
  template <typename T>
  Parameter(const std::optional<T>& value)
      : Parameter(value ? Parameter(*value) : Parameter(nullptr)) {}

  const std::optional<std::string>& value() const { return value_; }
  unsigned type() const { return type_; }  // PostgreSQL's number of the type; 0 = as expected there
  bool binary() const { return binary_; }  // sent in binary format

 private:
  Parameter(std::string bytes, unsigned type);  // binary
  std::optional<std::string> value_;
  unsigned type_ = 0;
  bool binary_ = false;
};

struct [[nodiscard]] Statement {
  std::string sql;
  std::vector<Parameter> parameters;
};

// The address as PostgreSQL's own programs take it from their environment ("PGHOST=db"): on a
// command line everyone would see the password.
Result<std::vector<std::string>> DatabaseEnvironment(const std::string& url);

// Whether a server takes connections there, of anyone at all; asks for at most 3 s. Yes too where
// the address is such that nobody can be asked: waiting does not help.
bool IsDatabaseUp(const std::string& url);

// One session with PostgreSQL. Every call has a deadline; when it passes, the socket is closed and
// the outcome is unknown (trust.md 3.11). Errors: Unavailable (no connection, deadline, SQLSTATE
// 08, 25006, 40, 53, 55P03, 57), Invalid (22, 54), Conflict (23), Internal (the rest). Messages
// hold no SQL. Not for several threads at once.
class Connection {
 public:
  // Connects within 3 s; each call takes at most `deadline`, and ends when `cut` becomes readable.
  static Result<std::unique_ptr<Connection>> Open(const std::string& url,
                                                  Duration deadline = std::chrono::seconds(10),
                                                  int cut = -1);
  ~Connection();

  Result<Rows> Query(const std::string& sql, std::span<const Parameter> parameters = {});
  Result<Rows> Query(const std::string& sql, std::initializer_list<Parameter> parameters) {
    return Query(sql, std::span(parameters.begin(), parameters.size()));
  }
  // The same for a statement that runs often and finds its rows by their keys, whatever these are:
  // PostgreSQL plans it once. Not for one that asks "all nodes, or these": a plan for any values
  // took 2.9 s where one for these nodes takes 10 ms.
  Result<Rows> QueryByKey(const std::string& sql, std::initializer_list<Parameter> parameters);
  Result<Rows> QueryByKey(const Statement& statement);
  // Two reads by key in one round trip, an answer to each: an error of the second leaves the first
  // its rows, outside a transaction. Until both are prepared the first is asked alone.
  struct PairOfRows {
    Result<Rows> first;
    std::optional<Result<Rows>> second;  // nothing: not asked
  };
  PairOfRows QueryPair(const Statement& first, const Statement& second);
  // Several by key in one round trip, each once the one before it went well: their rows, or the
  // first error. Until all are prepared they go one by one, so what stands before one that fails is
  // surely undone only within a transaction.
  Result<std::vector<Rows>> QueryTogether(std::span<const Statement> statements);
  // Several statements without parameters, as one transaction unless one is open.
  Status Execute(const std::string& script);

  // Where readers of this database find blocks that they have read before; null without one.
  BlockCache* blocks() const;
  void set_blocks(BlockCache* blocks);

  // Of the calls from now on.
  void set_deadline(Duration deadline);
  Duration deadline() const;

  bool broken() const;
  // Of the last call: empty when it went well or nobody answered.
  std::string last_sqlstate() const;

 private:
  Connection(Duration deadline, int cut);
  Result<Rows> Query(Plan plan, const std::string& sql, std::span<const Parameter> parameters);
  struct Calls;
  std::unique_ptr<Calls> calls_;
};

inline constexpr char kRollback[] = "rollback";

// Rolled back unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Connection& connection);
  // And asks `first` in the same round trip, as QueryTogether does; `rows` are their answers.
  static Result<Transaction> Begin(Connection& connection, std::span<const Statement> first,
                                   std::vector<Rows>& rows);
  // Reads only, and all of it as of one instant.
  static Result<Transaction> Snapshot(Connection& connection);
  Transaction(Transaction&& other) noexcept;
  ~Transaction();
  // Unavailable with a broken connection: whether it is committed is unknown. `last` are written in
  // the same round trip; nothing is committed when one fails.
  Status Commit(std::vector<Statement> last = {});

 private:
  explicit Transaction(Connection& connection) : connection_(&connection) {}
  Connection* connection_;  // null once committed or moved from
};

// Connections to one database, lent one at a time to whoever asks. Safe from any thread.
class Database {
 public:
  // `blocks`, if any, is of this database and outlives it.
  Database(std::string url, std::size_t most, BlockCache* blocks = nullptr);

  // A connection for the caller alone; goes back when the pointer is dropped, is closed when
  // broken.
  class Lease {
   public:
    Connection& operator*() { return *connection_; }
    Connection* operator->() { return connection_.get(); }
    Lease(Lease&&) noexcept;
    ~Lease();

   private:
    friend class Database;
    Lease(Database& home, std::unique_ptr<Connection> connection);
    Database* home_;
    std::unique_ptr<Connection> connection_;
  };
  // Waits so long for a free one, then Unavailable. Each of its calls takes at most `deadline`.
  Result<Lease> Acquire(Duration wait = std::chrono::seconds(3),
                        Duration deadline = std::chrono::seconds(10));

  // For a stop that cannot wait: calls that wait for PostgreSQL end, and so do later ones.
  void Cut();

 private:
  struct Pool {
    std::vector<std::unique_ptr<Connection>> idle;
    std::size_t out = 0;
  };
  std::string url_;
  std::size_t most_;
  BlockCache* blocks_;
  Descriptor cut_;  // readable once it is cut
  Guarded<Pool> pool_;
};

}  // namespace stepscope
