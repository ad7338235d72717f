// The one file that knows libpq. Nothing here blocks without a deadline: statements are sent, and
// the socket is both.

#include "server/store/database.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/base/wait.h"
#include "server/store/bound_parameters.h"
#include "server/store/session_settings.h"
#include "server/store/sqlstate.h"
#include "server/store/statement_names.h"

namespace stepscope {
namespace {

constexpr Duration kConnectDeadline = 3s;
constexpr int kBinary = 1;
constexpr std::string_view kNotSupported = "0A000";

std::string OneLine(std::string_view text) {
  std::string line(Trim(text));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

// What libpq received.
struct Received : Rows::Cells {
  PGresult* result;
  explicit Received(PGresult* owned) : result(owned) {}
  Received(const Received&) = delete;
  ~Received() override { PQclear(result); }

  std::size_t size() const override { return static_cast<std::size_t>(PQntuples(result)); }
  bool IsNull(std::size_t row, std::size_t column) const override {
    return PQgetisnull(result, static_cast<int>(row), static_cast<int>(column)) != 0;
  }
  std::string_view At(std::size_t row, std::size_t column) const override {
    const int r = static_cast<int>(row), c = static_cast<int>(column);
    return {PQgetvalue(result, r, c), static_cast<std::size_t>(PQgetlength(result, r, c))};
  }
  unsigned Type(std::size_t column) const override {
    return PQftype(result, static_cast<int>(column));
  }
};

}  // namespace

struct Connection::Session {
  PGconn* connection = nullptr;
  Duration deadline{};
  int cut = -1;
  std::string sqlstate;
  StatementNames statements;
  BlockCache* blocks = nullptr;
  std::optional<Plan> plan = Plan::kCustom;  // nothing: not known

  ~Session() { Close(); }
  void Close() {
    if (connection) PQfinish(connection);
    connection = nullptr;
  }
  Error Lost(std::string_view why) {
    Close();
    return Unavailable(Format("database: {}", why));
  }

  bool Await(short events, SteadyTime until) const {
    return WaitFor(PQsocket(connection), events, {until, cut}).ok();
  }
  Status Connect(const std::string& url);
  Status Flush(SteadyTime until);
  Result<PGresult*> Receive(SteadyTime until);  // null after the last
  Result<Rows> Answer();                        // to what was sent
  Result<Rows> Sent(int accepted);              // the answer, if libpq took what was to be sent
  Status PlanAs(Plan wanted);
  Result<Rows> Ask(const std::string& sql, std::span<const Parameter> parameters);
  Result<Rows> Run(const std::string& name, const std::string& sql, const BoundParameters& bound);
};

// What libpq says of an address that it cannot read repeats it, and the password is in there.
Result<std::vector<std::string>> DatabaseEnvironment(const std::string& url) {
  PQconninfoOption* const parts = PQconninfoParse(url.c_str(), nullptr);
  if (!parts) {
    return Invalid("database: its address is not like postgresql://user:password@host/name");
  }
  std::vector<std::string> variables;
  for (const PQconninfoOption* part = parts; part->keyword; ++part) {
    if (part->envvar && part->val) variables.push_back(Format("{}={}", part->envvar, part->val));
  }
  PQconninfoFree(parts);
  return variables;
}

bool IsDatabaseUp(const std::string& url) {
  const char* const names[] = {"connect_timeout", "dbname", nullptr};
  const char* const values[] = {"3", url.c_str(), nullptr};
  const PGPing answer = PQpingParams(names, values, 1);
  return answer == PQPING_OK || answer == PQPING_NO_ATTEMPT;
}

// Our keywords stand before the URL's, so that the URL decides where both say something.
Status Connection::Session::Connect(const std::string& url) {
  if (const auto readable = DatabaseEnvironment(url); !readable) return readable.error();
  const std::string settings = SessionSettings(deadline);
  const char* const names[] = {"connect_timeout",
                               "keepalives_idle",
                               "keepalives_interval",
                               "keepalives_count",
                               "tcp_user_timeout",
                               "application_name",
                               "client_encoding",
                               "target_session_attrs",
                               "options",
                               "dbname",
                               nullptr};
  const char* const values[] = {
      "3",         "10",   "5", "3", "10000", "stepscope", "UTF8", "read-write", settings.c_str(),
      url.c_str(), nullptr};
  connection = PQconnectStartParams(names, values, 1);
  if (!connection) return Unavailable("database: no memory for a connection");
  PQsetNoticeReceiver(
      connection, [](void*, const PGresult*) {}, nullptr);
  const SteadyTime until = SystemClock().Steady() + kConnectDeadline;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection) != CONNECTION_BAD) {
    if (next == PGRES_POLLING_OK) break;
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (next == PGRES_POLLING_FAILED) break;
    if (!Await(events, until)) return Lost("does not answer for 3 s");
    next = PQconnectPoll(connection);
  }
  if (PQstatus(connection) != CONNECTION_OK) return Lost(OneLine(PQerrorMessage(connection)));
  PQsetnonblocking(connection, 1);
  return {};
}

Status Connection::Session::Flush(SteadyTime until) {
  for (;;) {
    const int left = PQflush(connection);
    if (left == 0) return {};
    if (left < 0) return Lost(OneLine(PQerrorMessage(connection)));
    if (!Await(POLLIN | POLLOUT, until)) return Lost("no answer before the deadline");
    if (!PQconsumeInput(connection)) return Lost(OneLine(PQerrorMessage(connection)));
  }
}

Result<PGresult*> Connection::Session::Receive(SteadyTime until) {
  while (PQisBusy(connection)) {
    if (!Await(POLLIN, until)) return Lost("no answer before the deadline");
    if (!PQconsumeInput(connection)) return Lost(OneLine(PQerrorMessage(connection)));
  }
  return PQgetResult(connection);
}

// The last result of what was sent, or its first error.
Result<Rows> Connection::Session::Answer() {
  const SteadyTime until = SystemClock().Steady() + deadline;
  if (Status flushed = Flush(until); !flushed) return flushed.error();
  Rows rows;
  std::optional<Error> error;
  for (;;) {
    const Result<PGresult*> received = Receive(until);
    if (!received) return received.error();
    if (*received == nullptr) break;
    auto cells = std::make_shared<const Received>(*received);
    const ExecStatusType status = PQresultStatus(cells->result);
    if (status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY) {
      const std::int64_t affected = std::strtoll(PQcmdTuples(cells->result), nullptr, 10);
      rows = Rows(std::move(cells), affected);
      continue;
    }
    if (status != PGRES_FATAL_ERROR) return Lost("unexpected copy");
    if (error) continue;
    const char* state = PQresultErrorField(cells->result, PG_DIAG_SQLSTATE);
    const char* message = PQresultErrorField(cells->result, PG_DIAG_MESSAGE_PRIMARY);
    sqlstate = state ? state : "";
    error = Error{state ? CodeOf(state) : Code::kUnavailable,
                  Format("database: {} ({})", message ? message : "connection lost",
                         state ? state : "no state")};
  }
  if (error) return *error;
  return rows;
}

Result<Rows> Connection::Session::Sent(int accepted) {
  return accepted ? Answer() : Result<Rows>(Lost(OneLine(PQerrorMessage(connection))));
}

Result<Rows> Connection::Session::Run(const std::string& name, const std::string& sql,
                                      const BoundParameters& bound) {
  const char* const* values = bound.values.data();
  const int *lengths = bound.lengths.data(), *formats = bound.formats.data();
  if (name.empty()) {
    return Sent(PQsendQueryParams(connection, sql.c_str(), bound.count(), bound.types.data(),
                                  values, lengths, formats, kBinary));
  }
  return Sent(PQsendQueryPrepared(connection, name.c_str(), bound.count(), values, lengths, formats,
                                  kBinary));
}

Connection::Connection() : session_(std::make_unique<Session>()) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::Open(const std::string& url, Duration deadline,
                                                     int cut) {
  std::unique_ptr<Connection> connection(new Connection());
  connection->session_->deadline = deadline;
  connection->session_->cut = cut;
  if (Status connected = connection->session_->Connect(url); !connected) return connected.error();
  return connection;
}

Status Connection::Session::PlanAs(Plan wanted) {
  if (plan == wanted) return {};
  const Result<Rows> set = Sent(PQsendQuery(connection, SetPlan(wanted)));
  if (!set) return set.error();
  plan = wanted;
  return {};
}

Result<Rows> Connection::Session::Ask(const std::string& sql,
                                      std::span<const Parameter> parameters) {
  const Result<BoundParameters> bound = Bind(parameters);
  if (!bound) return bound.error();
  const StatementNames::Choice choice = statements.Next(sql, bound->types);
  if (choice.prepare) {
    const Result<Rows> prepared = Sent(PQsendPrepare(connection, choice.name.c_str(), sql.c_str(),
                                                     bound->count(), bound->types.data()));
    if (!prepared) statements.Forget(sql, bound->types);
    if (!prepared) return prepared.error();
  }
  Result<Rows> rows = Run(choice.name, sql, *bound);
  // What was prepared does not fit the tables any more: another replica has migrated them.
  const bool stale = !choice.name.empty() && sqlstate == kNotSupported;
  if (stale) return Lost("the tables have changed");
  return rows;
}

Result<Rows> Connection::Query(const std::string& sql, std::span<const Parameter> parameters) {
  return Query(Plan::kCustom, sql, parameters);
}

Result<Rows> Connection::QueryByKey(const std::string& sql,
                                    std::initializer_list<Parameter> parameters) {
  return Query(Plan::kGeneric, sql, std::span(parameters.begin(), parameters.size()));
}

// A transaction that is rolled back takes the way of planning back with it.
Result<Rows> Connection::Query(Plan plan, const std::string& sql,
                               std::span<const Parameter> parameters) {
  if (!session_->connection) return Unavailable("database: the connection is lost");
  session_->sqlstate.clear();
  Status set = parameters.empty() ? Status() : session_->PlanAs(plan);
  Result<Rows> rows = set ? session_->Ask(sql, parameters) : Result<Rows>(set.error());
  if (!rows || sql == kRollback) session_->plan.reset();
  return rows;
}

Status Connection::Execute(const std::string& script) {
  if (!session_->connection) return Unavailable("database: the connection is lost");
  session_->sqlstate.clear();
  Result<Rows> answer = session_->Sent(PQsendQuery(session_->connection, script.c_str()));
  return answer ? Status() : Status(answer.error());
}

// Nothing comes unasked but the end of the session, so a readable socket is a lost one.
bool Connection::broken() const {
  pollfd watched{PQsocket(session_->connection), POLLIN, 0};
  return PQstatus(session_->connection) != CONNECTION_OK || poll(&watched, 1, 0) > 0;
}

BlockCache* Connection::blocks() const {
  return session_->blocks;
}

void Connection::set_blocks(BlockCache* blocks) {
  session_->blocks = blocks;
}

void Connection::set_deadline(Duration deadline) {
  session_->deadline = deadline;
}

Duration Connection::deadline() const {
  return session_->deadline;
}

std::string Connection::last_sqlstate() const {
  return session_->sqlstate;
}

}  // namespace stepscope
