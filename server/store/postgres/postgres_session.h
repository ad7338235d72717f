#pragma once

#include <span>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "server/store/postgres/bound_parameters.h"
#include "server/store/postgres/rows.h"

struct pg_conn;  // of libpq
struct pg_result;

namespace stepscope {

// The address as PostgreSQL's own programs take it from their environment ("PGHOST=db"): on a
// command line everyone would see the password.
Result<std::vector<std::string>> DatabaseEnvironment(const std::string& url);

// Whether a server takes connections there, of anyone at all; asks for at most 3 s. Yes too where
// the address is such that nobody can be asked: waiting does not help.
bool IsDatabaseUp(const std::string& url);

// One that is prepared, and what is bound to it.
struct PreparedCall {
  std::string name;
  BoundParameters bound;
};

// A session's wire. Nothing here blocks without a deadline: statements are sent, and the socket is
// both. Errors are those of Connection.
class PostgresSession {
 public:
  // Each call takes at most `most`, and ends when `cut` becomes readable.
  PostgresSession(Duration most, int cut) : deadline(most), cut_(cut) {}
  PostgresSession(const PostgresSession&) = delete;
  ~PostgresSession() { Close(); }

  Status Connect(const std::string& url);
  Status Prepare(const std::string& name, const std::string& sql, const BoundParameters& bound);
  // By its name where it has one.
  Result<Rows> Run(const std::string& name, const std::string& sql, const BoundParameters& bound);
  // All in one round trip, and in the time of two calls: an answer to each. Behind one that failed
  // nothing is done, and outside a transaction nothing is kept then of what stood before it.
  std::vector<Result<Rows>> RunAll(std::span<const PreparedCall> calls);
  Result<Rows> Execute(const std::string& script);

  Error Lost(std::string_view why);  // closes it
  bool open() const { return connection_ != nullptr; }
  bool broken() const;

  Duration deadline;
  std::string sqlstate;  // of the last call

 private:
  void Close();
  bool Await(short events, SteadyTime until) const;
  Status Flush(SteadyTime until);
  bool Send(const std::string& name, const BoundParameters& bound);
  Status LeavePipeline(SteadyTime until);
  Error ErrorIn(const pg_result* result);
  Result<pg_result*> Receive(SteadyTime until);  // null after the last
  Result<Rows> Answer(SteadyTime until);         // to what was sent
  Result<Rows> Sent(int accepted);               // the answer, if libpq took what was to be sent

  pg_conn* connection_ = nullptr;
  const int cut_;
};

}  // namespace stepscope
