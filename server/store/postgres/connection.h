#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "server/store/postgres/parameter.h"
#include "server/store/postgres/rows.h"
#include "server/store/postgres/session_settings.h"

namespace stepscope {

class BlockCache;

// A session with PostgreSQL. Every call has a deadline; when it passes, the socket is closed and
// the outcome is unknown. Errors: Unavailable (no connection, deadline, SQLSTATE 08, 25006, 40, 53,
// 55P03, 57), Invalid (22, 54), Conflict (23), Internal (the rest). Messages hold no SQL. Not for
// several threads at once.
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
  // Queries that run often and find their rows by keys, whatever the values are: PostgreSQL plans
  // them once. Not for a statement that asks "all nodes, or these": a plan for any values took 2.9
  // s where a plan for these nodes takes 10 ms.
  Result<Rows> QueryByKey(const std::string& sql, std::initializer_list<Parameter> parameters);
  Result<Rows> QueryByKey(const Statement& statement);
  // Two queries by key in one round trip, with an answer to each: where the second fails, the first
  // keeps its rows, outside a transaction. Until both are prepared, only the first is sent.
  struct PairOfRows {
    Result<Rows> first;
    std::optional<Result<Rows>> second;  // nullopt: not sent
  };
  PairOfRows QueryPair(const Statement& first, const Statement& second);
  // Several queries by key in one round trip, each run once the one before it succeeded: their
  // rows, or the first error. Until all are prepared they go one by one, so what ran before a
  // failure is surely undone only within a transaction.
  Result<std::vector<Rows>> QueryTogether(std::span<const Statement> statements);
  // Several statements without parameters, as one transaction unless one is open.
  Status Execute(const std::string& script);

  // The cache of blocks that readers of this database have read; null without one.
  BlockCache* blocks() const;
  void set_blocks(BlockCache* blocks);

  // The deadline of later calls.
  void set_deadline(Duration deadline);
  Duration deadline() const;

  // Whether Citus spreads the tables over machines by their job.
  bool distributed() const;
  bool broken() const;
  // The SQLSTATE of the last call: empty when it succeeded or nobody answered.
  std::string last_sqlstate() const;

 private:
  Connection(Duration deadline, int cut);
  Result<Rows> Query(Plan plan, const std::string& sql, std::span<const Parameter> parameters);
  struct Calls;
  std::unique_ptr<Calls> calls_;
};

}  // namespace stepscope
