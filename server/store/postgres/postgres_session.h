#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "server/store/postgres/bound_parameters.h"
#include "server/store/postgres/rows.h"

struct pg_conn;  // libpq's types
struct pg_result;

namespace stepscope {

// The address as PostgreSQL's own programs take it from their environment ("PGHOST=db"): on a
// command line everyone would see the password.
Result<std::vector<std::string>> DatabaseEnvironment(const std::string& url);

// The address with another machine in it. Invalid when it cannot be read.
Result<std::string> WithMachine(const std::string& url, const std::string& host, int port);

// Whether a server takes connections at the address, from anyone at all; waits at most 3 s. True
// also where the address is such that no server can be asked: waiting does not help.
bool IsDatabaseUp(const std::string& url);

// A prepared statement with bound values.
struct PreparedCall {
  std::string name;
  BoundParameters bound;
};

// The protocol of a session. Nothing here blocks without a deadline: sending and receiving wait on
// the socket. Errors are those of Connection.
class PostgresSession {
 public:
  // A call takes at most `most`, and ends when `cut` becomes readable.
  PostgresSession(Duration most, int cut) : deadline(most), cut_(cut) {}
  PostgresSession(const PostgresSession&) = delete;
  ~PostgresSession() { Close(); }

  Status Connect(const std::string& url);
  Status Prepare(const std::string& name, const std::string& sql, const BoundParameters& bound);
  // Runs the prepared statement `name`, or `sql` where the name is empty.
  Result<Rows> Run(const std::string& name, const std::string& sql, const BoundParameters& bound);
  // Runs the calls in one round trip, within two deadlines: an answer to each. Calls behind a
  // failed one are not run, and outside a transaction the earlier ones are rolled back then.
  std::vector<Result<Rows>> RunAll(std::span<const PreparedCall> calls);
  Result<Rows> Execute(const std::string& script);

  Error Lost(std::string_view why);  // closes it
  bool open() const { return connection_ != nullptr; }
  bool broken() const;

  void Forget();  // what the last call said

  Duration deadline;
  bool distributed = false;     // what fails may have failed on a machine behind Citus
  std::string sqlstate;         // the last call's
  bool tables_changed = false;  // a prepared statement does not fit: another replica migrated

 private:
  void Close();
  bool Await(short events, SteadyTime until) const;
  Status Flush(SteadyTime until);
  bool Send(const std::string& name, const BoundParameters& bound);
  Status LeavePipeline(SteadyTime until);
  Error ErrorIn(const pg_result* result);
  Result<pg_result*> Receive(SteadyTime until);  // null after the last result
  Result<Rows> Answer(SteadyTime until);         // to what was sent
  Result<Rows> Sent(int accepted);               // the answer, if libpq took what was to be sent

  pg_conn* connection_ = nullptr;
  const int cut_;
};

}  // namespace stepscope
