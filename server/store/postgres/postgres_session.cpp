// The one file that knows libpq.

#include "server/store/postgres/postgres_session.h"

#include <libpq-fe.h>
#include <poll.h>

#include <algorithm>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "core/base/wait.h"
#include "server/store/postgres/citus_error.h"
#include "server/store/postgres/database.h"
#include "server/store/postgres/session_settings.h"
#include "server/store/postgres/sqlstate.h"

namespace stepscope {
namespace {

constexpr Duration kConnectDeadline = 3s;
constexpr int kBinary = 1;

std::string OneLine(std::string_view text) {
  std::string line(Trim(text));
  std::ranges::replace(line, '\n', ' ');
  return line;
}

// A result that libpq owns.
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

// The parser's own message is not shown: it repeats the address, password included.
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

Result<std::string> WithMachine(const std::string& url, const std::string& host, int port) {
  PQconninfoOption* const parts = PQconninfoParse(url.c_str(), nullptr);
  if (!parts) return Invalid("database: its address cannot be read");
  const auto quoted = [](std::string_view value) {
    std::string text = "'";
    for (const char c : value) {
      if (c == '\'' || c == '\\') text += '\\';
      text += c;
    }
    return text + "'";
  };
  std::string machine = Format("host={} port={}", quoted(host), port);
  for (const PQconninfoOption* part = parts; part->keyword; ++part) {
    const std::string_view key = part->keyword;
    if (!part->val || key == "host" || key == "hostaddr" || key == "port") continue;
    machine += Format(" {}={}", key, quoted(part->val));
  }
  PQconninfoFree(parts);
  return machine;
}

bool IsDatabaseUp(const std::string& url) {
  const char* const names[] = {"connect_timeout", "dbname", nullptr};
  const char* const values[] = {"3", url.c_str(), nullptr};
  const PGPing answer = PQpingParams(names, values, 1);
  return answer == PQPING_OK || answer == PQPING_NO_ATTEMPT;
}

void PostgresSession::Close() {
  if (connection_) PQfinish(connection_);
  connection_ = nullptr;
}

Error PostgresSession::Lost(std::string_view why) {
  Close();
  return Unavailable(Format("database: {}", why));
}

bool PostgresSession::Await(short events, SteadyTime until) const {
  return WaitFor(PQsocket(connection_), events, {until, cut_}).ok();
}

// Our keywords come before the URL's, so that the URL decides where both set one.
Status PostgresSession::Connect(const std::string& url) {
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
  connection_ = PQconnectStartParams(names, values, 1);
  if (!connection_) return Unavailable("database: no memory for a connection");
  PQsetNoticeReceiver(
      connection_, [](void*, const PGresult*) {}, nullptr);
  const SteadyTime until = SystemClock().Steady() + kConnectDeadline;
  PostgresPollingStatusType next = PGRES_POLLING_WRITING;
  while (PQstatus(connection_) != CONNECTION_BAD) {
    if (next == PGRES_POLLING_OK) break;
    const short events = next == PGRES_POLLING_READING ? POLLIN : POLLOUT;
    if (next == PGRES_POLLING_FAILED) break;
    if (!Await(events, until)) return Lost("does not answer for 3 s");
    next = PQconnectPoll(connection_);
  }
  if (PQstatus(connection_) != CONNECTION_OK) return Lost(OneLine(PQerrorMessage(connection_)));
  PQsetnonblocking(connection_, 1);
  return {};
}

Status PostgresSession::Flush(SteadyTime until) {
  for (;;) {
    const int left = PQflush(connection_);
    if (left == 0) return {};
    if (left < 0) return Lost(OneLine(PQerrorMessage(connection_)));
    if (!Await(POLLIN | POLLOUT, until)) return Lost("no answer before the deadline");
    if (!PQconsumeInput(connection_)) return Lost(OneLine(PQerrorMessage(connection_)));
  }
}

Result<PGresult*> PostgresSession::Receive(SteadyTime until) {
  while (PQisBusy(connection_)) {
    if (!Await(POLLIN, until)) return Lost("no answer before the deadline");
    if (!PQconsumeInput(connection_)) return Lost(OneLine(PQerrorMessage(connection_)));
  }
  return PQgetResult(connection_);
}

void PostgresSession::Forget() {
  sqlstate.clear();
  tables_changed = false;
}

Error PostgresSession::ErrorIn(const PGresult* result) {
  const char* const state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
  const char* const message = PQresultErrorField(result, PG_DIAG_MESSAGE_PRIMARY);
  const char* const place = PQresultErrorField(result, PG_DIAG_SOURCE_FUNCTION);
  sqlstate = state ? state : "";
  tables_changed = place && std::string_view(place) == "RevalidateCachedQuery";
  if (!state) return Unavailable("database: connection lost (no state)");
  const std::string said = OneLine(message ? message : "no message");
  if (distributed) return CitusError(sqlstate, said);
  return {CodeOf(sqlstate), Format("database: {} ({})", said, sqlstate)};
}

// The last result of what was sent, or its first error.
Result<Rows> PostgresSession::Answer(SteadyTime until) {
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
    } else if (status == PGRES_PIPELINE_ABORTED) {
      error = Internal("database: what stood before it failed");
    } else if (status != PGRES_FATAL_ERROR) {
      return Lost("unexpected copy");
    } else if (!error) {
      error = ErrorIn(cells->result);
    }
  }
  if (error) return *error;
  return rows;
}

Result<Rows> PostgresSession::Sent(int accepted) {
  if (!accepted) return Lost(OneLine(PQerrorMessage(connection_)));
  return Answer(SystemClock().Steady() + deadline);
}

bool PostgresSession::Send(const std::string& name, const BoundParameters& bound) {
  return PQsendQueryPrepared(connection_, name.c_str(), bound.count(), bound.values.data(),
                             bound.lengths.data(), bound.formats.data(), kBinary);
}

Result<Rows> PostgresSession::Run(const std::string& name, const std::string& sql,
                                  const BoundParameters& bound) {
  if (!name.empty()) return Sent(Send(name, bound));
  return Sent(PQsendQueryParams(connection_, sql.c_str(), bound.count(), bound.types.data(),
                                bound.values.data(), bound.lengths.data(), bound.formats.data(),
                                kBinary));
}

std::vector<Result<Rows>> PostgresSession::RunAll(std::span<const PreparedCall> calls) {
  const SteadyTime until = SystemClock().Steady() + 2 * deadline;
  const auto send = [this](const PreparedCall& call) { return Send(call.name, call.bound); };
  const bool sent = PQenterPipelineMode(connection_) && std::ranges::all_of(calls, send) &&
                    PQpipelineSync(connection_);
  const auto lost = [&](const Error& why) { return std::vector<Result<Rows>>(calls.size(), why); };
  if (!sent) return lost(Lost(OneLine(PQerrorMessage(connection_))));
  std::vector<Result<Rows>> answers;
  for (std::size_t i = 0; i < calls.size(); ++i) {
    answers.push_back(Answer(until));
    if (!open()) return lost(answers.back().error());
  }
  const Status left = LeavePipeline(until);
  return left ? std::move(answers) : lost(left.error());
}

// The last answer is followed by a pipeline sync, and nothing else.
Status PostgresSession::LeavePipeline(SteadyTime until) {
  const Result<PGresult*> mark = Receive(until);
  if (!mark) return mark.error();
  const bool is_mark = PQresultStatus(*mark) == PGRES_PIPELINE_SYNC;
  PQclear(*mark);
  if (is_mark && PQexitPipelineMode(connection_)) return {};
  if (PQstatus(connection_) != CONNECTION_OK) return Lost(OneLine(PQerrorMessage(connection_)));
  return Lost("an answer that nothing was asked for");
}

Status PostgresSession::Prepare(const std::string& name, const std::string& sql,
                                const BoundParameters& bound) {
  const Result<Rows> prepared = Sent(
      PQsendPrepare(connection_, name.c_str(), sql.c_str(), bound.count(), bound.types.data()));
  return prepared ? Status() : Status(prepared.error());
}

Result<Rows> PostgresSession::Execute(const std::string& script) {
  return Sent(PQsendQuery(connection_, script.c_str()));
}

// PostgreSQL sends nothing unasked but the end of the session, so a readable socket is a lost one.
bool PostgresSession::broken() const {
  pollfd watched{PQsocket(connection_), POLLIN, 0};
  return PQstatus(connection_) != CONNECTION_OK || poll(&watched, 1, 0) > 0;
}

}  // namespace stepscope
