#pragma once

#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/guarded.h"
#include "server/store/postgres/connection.h"

namespace stepscope {

inline constexpr char kRollback[] = "rollback";

// A transaction, rolled back unless committed.
class Transaction {
 public:
  static Result<Transaction> Begin(Connection& connection);
  // Begins and runs `first` in the same round trip, as QueryTogether does; `rows` are the answers.
  static Result<Transaction> Begin(Connection& connection, std::span<const Statement> first,
                                   std::vector<Rows>& rows);
  // Begins a read-only transaction, which sees the database as of one instant.
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
  // Waits up to `wait` for a free connection, then Unavailable. Each of its calls takes at most
  // `deadline`.
  Result<Lease> Acquire(Duration wait = std::chrono::seconds(3),
                        Duration deadline = std::chrono::seconds(10));

  // This database on another machine of its cluster, with as many connections; it lives as long as
  // this one.
  Result<Database*> At(const std::string& host, int port);

  // For a stop that cannot wait: ends the calls that wait for PostgreSQL, and all later ones.
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
  Guarded<std::map<std::string, std::unique_ptr<Database>>> machines_;  // by address
};

}  // namespace stepscope
