#include "server/store/postgres/connection.h"

#include <algorithm>

#include "server/store/postgres/postgres_session.h"
#include "server/store/postgres/session_settings.h"
#include "server/store/postgres/statement_names.h"

namespace stepscope {
namespace {

constexpr char kFindCitus[] = "select from pg_extension where extname = 'citus'";
constexpr char kTablesChanged[] = "the tables have changed";
constexpr char kLost[] = "database: the connection is lost";

}  // namespace

struct Connection::Calls {
  Calls(Duration deadline, int cut) : session(deadline, cut) {}

  PostgresSession session;
  StatementNames statements;
  BlockCache* blocks = nullptr;
  std::optional<Plan> plan = Plan::kCustom;  // nullopt: unknown

  Status PlanAs(Plan wanted);
  Result<Rows> Ask(const std::string& sql, std::span<const Parameter> parameters);
  Result<std::vector<PreparedCall>> Prepared(std::span<const Statement> statements) const;
  PairOfRows AskPair(std::span<const Statement> both);
  Result<std::vector<Rows>> AskTogether(std::span<const Statement> statements);
};

Connection::Connection(Duration deadline, int cut)
    : calls_(std::make_unique<Calls>(deadline, cut)) {}
Connection::~Connection() = default;

Result<std::unique_ptr<Connection>> Connection::Open(const std::string& url, Duration deadline,
                                                     int cut) {
  std::unique_ptr<Connection> connection(new Connection(deadline, cut));
  PostgresSession& session = connection->calls_->session;
  if (Status connected = session.Connect(url); !connected) return connected.error();
  const Result<Rows> citus = session.Execute(kFindCitus);
  if (!citus) return citus.error();
  session.distributed = !citus->empty();
  return connection;
}

Status Connection::Calls::PlanAs(Plan wanted) {
  if (session.distributed && wanted == Plan::kGeneric) wanted = Plan::kFree;
  if (plan == wanted) return {};
  const Result<Rows> set = session.Execute(SetPlan(wanted));
  if (!set) return set.error();
  plan = wanted;
  return {};
}

Result<Rows> Connection::Calls::Ask(const std::string& sql, std::span<const Parameter> parameters) {
  const Result<BoundParameters> bound = Bind(parameters);
  if (!bound) return bound.error();
  const StatementNames::Choice choice = statements.Next(sql, bound->types);
  if (choice.prepare) {
    const Status prepared = session.Prepare(choice.name, sql, *bound);
    if (!prepared) statements.Forget(sql, bound->types);
    if (!prepared) return prepared.error();
  }
  Result<Rows> rows = session.Run(choice.name, sql, *bound);
  if (session.tables_changed) return session.Lost(kTablesChanged);
  return rows;
}

// Empty when one of the statements is not prepared yet.
Result<std::vector<PreparedCall>> Connection::Calls::Prepared(
    std::span<const Statement> wanted) const {
  std::vector<PreparedCall> calls;
  for (const Statement& statement : wanted) {
    Result<BoundParameters> bound = Bind(statement.parameters);
    if (!bound) return bound.error();
    std::string name = statements.Prepared(statement.sql, bound->types);
    if (name.empty()) return std::vector<PreparedCall>();
    calls.push_back({std::move(name), std::move(*bound)});
  }
  return calls;
}

Connection::PairOfRows Connection::Calls::AskPair(std::span<const Statement> both) {
  const auto calls = Prepared(both);
  if (!calls || calls->empty()) return {Ask(both[0].sql, both[0].parameters), {}};
  std::vector<Result<Rows>> answers = session.RunAll(*calls);
  if (session.tables_changed) return {session.Lost(kTablesChanged), {}};
  if (!answers[0]) return {std::move(answers[0]), {}};
  return {std::move(answers[0]), std::move(answers[1])};
}

Result<std::vector<Rows>> Connection::Calls::AskTogether(std::span<const Statement> wanted) {
  const auto calls = Prepared(wanted);
  if (!calls) return calls.error();
  std::vector<Result<Rows>> answers;
  if (!calls->empty()) answers = session.RunAll(*calls);
  if (session.tables_changed) return session.Lost(kTablesChanged);
  std::vector<Rows> rows;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    Result<Rows> answer =
        calls->empty() ? Ask(wanted[i].sql, wanted[i].parameters) : std::move(answers[i]);
    if (!answer) return answer.error();
    rows.push_back(std::move(*answer));
  }
  return rows;
}

Result<Rows> Connection::Query(const std::string& sql, std::span<const Parameter> parameters) {
  return Query(Plan::kCustom, sql, parameters);
}

Result<Rows> Connection::QueryByKey(const std::string& sql,
                                    std::initializer_list<Parameter> parameters) {
  return Query(Plan::kGeneric, sql, std::span(parameters.begin(), parameters.size()));
}

Result<Rows> Connection::QueryByKey(const Statement& statement) {
  return Query(Plan::kGeneric, statement.sql, statement.parameters);
}

Connection::PairOfRows Connection::QueryPair(const Statement& first, const Statement& second) {
  if (!calls_->session.open()) return {Unavailable(kLost), {}};
  calls_->session.Forget();
  const Status set = calls_->PlanAs(Plan::kGeneric);
  const Statement both[] = {first, second};
  PairOfRows rows = set ? calls_->AskPair(both) : PairOfRows{set.error(), {}};
  const bool failed = !rows.first || (rows.second && !*rows.second);
  if (failed) calls_->plan.reset();
  return rows;
}

Result<std::vector<Rows>> Connection::QueryTogether(std::span<const Statement> statements) {
  if (!calls_->session.open()) return Unavailable(kLost);
  calls_->session.Forget();
  const bool any =
      !std::ranges::all_of(statements, &std::vector<Parameter>::empty, &Statement::parameters);
  const Status set = any ? calls_->PlanAs(Plan::kGeneric) : Status();
  auto rows = set ? calls_->AskTogether(statements) : Result<std::vector<Rows>>(set.error());
  if (!rows) calls_->plan.reset();
  return rows;
}

// A rollback takes back the planner's settings as well.
Result<Rows> Connection::Query(Plan plan, const std::string& sql,
                               std::span<const Parameter> parameters) {
  if (!calls_->session.open()) return Unavailable(kLost);
  calls_->session.Forget();
  Status set = parameters.empty() ? Status() : calls_->PlanAs(plan);
  Result<Rows> rows = set ? calls_->Ask(sql, parameters) : Result<Rows>(set.error());
  if (!rows || sql == kRollback) calls_->plan.reset();
  return rows;
}

Status Connection::Execute(const std::string& script) {
  if (!calls_->session.open()) return Unavailable(kLost);
  calls_->session.Forget();
  Result<Rows> answer = calls_->session.Execute(script);
  return answer ? Status() : Status(answer.error());
}

bool Connection::distributed() const {
  return calls_->session.distributed;
}

bool Connection::broken() const {
  return calls_->session.broken();
}

BlockCache* Connection::blocks() const {
  return calls_->blocks;
}

void Connection::set_blocks(BlockCache* blocks) {
  calls_->blocks = blocks;
}

void Connection::set_deadline(Duration deadline) {
  calls_->session.deadline = deadline;
}

Duration Connection::deadline() const {
  return calls_->session.deadline;
}

std::string Connection::last_sqlstate() const {
  return calls_->session.sqlstate;
}

}  // namespace stepscope
