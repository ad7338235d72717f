#include "server/store/postgres/database.h"

#include <sys/eventfd.h>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "server/store/postgres/postgres_session.h"

namespace stepscope {
namespace {

constexpr char kBegin[] = "begin", kCommit[] = "commit";
constexpr Duration kDeadline = 10s;  // the server's statement timeout follows from it

}  // namespace

Result<Transaction> Transaction::Begin(Connection& connection) {
  Result<Rows> begun = connection.Query(kBegin);
  if (!begun) return begun.error();
  return Transaction(connection);
}

Result<Transaction> Transaction::Begin(Connection& connection, std::span<const Statement> first,
                                       std::vector<Rows>& rows) {
  std::vector<Statement> all = {{kBegin, {}}};
  all.insert(all.end(), first.begin(), first.end());
  Transaction transaction(connection);
  Result<std::vector<Rows>> answers = connection.QueryTogether(all);
  if (!answers) return answers.error();
  rows.assign(answers->begin() + 1, answers->end());
  return transaction;
}

Result<Transaction> Transaction::Snapshot(Connection& connection) {
  Result<Rows> begun = connection.Query("begin isolation level repeatable read read only");
  if (!begun) return begun.error();
  return Transaction(connection);
}

Transaction::Transaction(Transaction&& other) noexcept
    : connection_(std::exchange(other.connection_, nullptr)) {}

// Where a rollback cannot be sent, the connection is broken, and PostgreSQL rolls back by itself.
Transaction::~Transaction() {
  if (connection_ && !connection_->broken()) (void)connection_->Query(kRollback);
}

// A failed transaction answers "rollback" to commit without an error; statements before it failed,
// so callers never come here with one.
Status Transaction::Commit(std::vector<Statement> last) {
  last.push_back({kCommit, {}});
  const auto written = connection_->QueryTogether(last);
  if (!written) return written.error();
  connection_ = nullptr;
  return {};
}

Database::Database(std::string url, std::size_t most, BlockCache* blocks)
    : url_(std::move(url)),
      most_(most),
      blocks_(blocks),
      cut_(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {}

void Database::Cut() {
  eventfd_write(cut_.get(), 1);
  machines_.Read([](const auto& machines) {
    for (const auto& [address, database] : machines) database->Cut();
  });
}

// One that is asked for during a cut is made, and ends with the first call's deadline.
Result<Database*> Database::At(const std::string& host, int port) {
  Result<std::string> url = WithMachine(url_, host, port);
  if (!url) return url.error();
  return machines_.Change([&](auto& machines) {
    std::unique_ptr<Database>& found = machines[*url];
    if (!found) found = std::make_unique<Database>(*url, most_, blocks_);
    return found.get();
  });
}

Database::Lease::Lease(Database& home, std::unique_ptr<Connection> connection)
    : home_(&home), connection_(std::move(connection)) {}

Database::Lease::Lease(Lease&& other) noexcept
    : home_(std::exchange(other.home_, nullptr)), connection_(std::move(other.connection_)) {}

Database::Lease::~Lease() {
  if (!home_) return;
  if (connection_ && connection_->broken()) connection_.reset();
  home_->pool_.Change([&](Pool& pool) {
    --pool.out;
    if (connection_) pool.idle.push_back(std::move(connection_));
  });
}

Result<Database::Lease> Database::Acquire(Duration wait, Duration deadline) {
  const auto free = [this](const Pool& pool) { return pool.out < most_; };
  std::unique_ptr<Connection> connection;
  bool lent = false;
  const SteadyTime until = SystemClock().Steady() + wait;
  // Several waiters may see the same free connection; the losers wait again.
  while (!lent) {
    if (!pool_.Wait({}, until - SystemClock().Steady(), free)) {
      return Unavailable(Format("database: all {} connections are busy", most_));
    }
    lent = pool_.Change([&](Pool& pool) {
      if (pool.out >= most_) return false;
      ++pool.out;
      if (pool.idle.empty()) return true;
      connection = std::move(pool.idle.back());
      pool.idle.pop_back();
      return true;
    });
  }
  Lease lease(*this, std::move(connection));
  if (!lease.connection_ || lease.connection_->broken()) {
    Result<std::unique_ptr<Connection>> opened = Connection::Open(url_, kDeadline, cut_.get());
    if (!opened) return opened.error();
    lease.connection_ = std::move(*opened);
    lease.connection_->set_blocks(blocks_);
  }
  lease.connection_->set_deadline(deadline);
  return lease;
}

}  // namespace stepscope
