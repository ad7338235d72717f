#include "tests/support/postgres.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "core/base/text.h"
#include "server/postgres/embedded_postgres.h"
#include "server/store/schema/migrations.h"
#include "tests/support/temp_folder.h"

namespace stepscope {
namespace {

constexpr const char* kFast[] = {
    "fsync=off",           "full_page_writes=off", "synchronous_commit=off", "shared_buffers=32MB",
    "max_connections=100", "autovacuum=off",       "max_wal_size=256MB"};

[[noreturn]] void GiveUp(const std::string& why) {
  std::fprintf(stderr, "test database: %s\n", why.c_str());
  std::exit(2);
}

template <typename T>
T Need(Result<T> result) {
  if (!result) GiveUp(result.error().message);
  return std::move(*result);
}

void Need(const Status& status) {
  if (!status) GiveUp(status.error().message);
}

// A coordinator that keeps the shards itself, few of them, since each test copies them.
constexpr char kMakeCitus[] = R"(
create extension citus;
select citus_set_coordinator_host(host(inet_server_addr()), inet_server_port());
select citus_set_node_property(nodename, nodeport, 'shouldhaveshards', true) from pg_dist_node;
set citus.shard_count = 4)";
constexpr int kTries = 5;  // the maintenance daemon of Citus holds a database for a moment

// The URL with another database: its name is between the last '/' and '?'.
std::string WithDatabase(const std::string& url, const std::string& name) {
  const std::size_t question = std::min(url.find('?'), url.size());
  const std::size_t slash = url.rfind('/', question);
  return url.substr(0, slash + 1) + name + url.substr(question);
}

// The server of this test program, with the migrated database that tests' databases are copied
// from.
class Cluster {
 public:
  static Cluster& Get() {
    static Cluster cluster;  // stopped and removed when the program ends
    return cluster;
  }
  const std::string& url() const { return url_; }
  const std::string& pattern() const { return pattern_; }
  // As a role that makes databases and ends sessions.
  std::unique_ptr<Connection> Connect() const { return Need(Connection::Open(maker_url_, 60s)); }
  std::unique_ptr<Connection> Connect(const std::string& database) const {
    return Need(Connection::Open(WithDatabase(maker_url_, database), 60s));
  }
  void Make(const std::string& name, const std::string& pattern) const {
    const char* const owner = postgres_ ? " owner stepscope" : "";
    Change(Format("create database {} template {}{}", name, pattern, owner));
  }
  void Drop(const std::string& name) const {
    Change(Format("drop database {} with (force)", name));
  }

 private:
  Cluster() : pattern_(Format("stepscope_pattern_{}", getpid())) {
    const char* const citus = std::getenv("STEPSCOPE_CITUS_URL");
    const char* const given = citus ? citus : std::getenv("STEPSCOPE_TEST_DATABASE_URL");
    maker_url_ = url_ = given ? given : "";
    if (!given) StartOwn();
    Make(pattern_, citus ? "template0" : "template1");
    const auto pattern = Need(Connection::Open(WithDatabase(url_, pattern_), 60s));
    if (citus) Need(pattern->Execute(kMakeCitus));
    Need(Migrate(*pattern));
    if (citus) Close(pattern_);
  }
  ~Cluster() {
    if (!postgres_) Drop(pattern_);
  }

  // Ends the daemon of Citus, which would hold the database.
  void Close(const std::string& name) const {
    const auto connection = Connect();
    Need(connection->Execute(Format("alter database {} with allow_connections false", name)));
    Need(connection->Execute(
        Format("select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = '{}'",
               name)));
  }

  void Change(const std::string& statement) const {
    for (int tried = 1;; ++tried) {
      const auto connection = Connect();
      const Status done = connection->Execute(statement);
      const bool busy = connection->last_sqlstate() == "55006";
      if (done) return;
      if (!busy || tried == kTries) GiveUp(done.error().message);
      std::this_thread::sleep_for(100ms);
    }
  }

  void StartOwn() {
    EmbeddedPostgresOptions options{folder_.path(), "", {std::begin(kFast), std::end(kFast)}};
    postgres_ = Need(EmbeddedPostgres::Start(options));
    url_ = postgres_->url();
    maker_url_ = postgres_->superuser_url();
  }

  std::string url_, maker_url_, pattern_;
  const TempFolder folder_;
  std::unique_ptr<EmbeddedPostgres> postgres_;
};

}  // namespace

TestDatabase::TestDatabase() : TestDatabase(Cluster::Get().pattern()) {}

TestDatabase TestDatabase::Empty() {
  return TestDatabase("template0");
}

void TestDatabase::AddCitus() const {
  Need(Connect()->Execute(kMakeCitus));
}

TestDatabase::TestDatabase(const std::string& pattern) {
  static std::atomic<int> count = 0;
  name_ = Format("stepscope_test_{}_{}", getpid(), ++count);
  url_ = WithDatabase(Cluster::Get().url(), name_);
  Cluster::Get().Make(name_, pattern);
}

TestDatabase::~TestDatabase() {
  Cluster::Get().Drop(name_);
}

std::unique_ptr<Connection> TestDatabase::Connect() const {
  return Need(Connection::Open(url_));
}

std::unique_ptr<Connection> TestDatabase::ConnectAsSuperuser() const {
  return Cluster::Get().Connect(name_);
}

int TestDatabase::EndSessions() const {
  constexpr char kEnd[] = R"(
select count(pg_terminate_backend(pid, 5000))
from pg_stat_activity
where datname = $1 and pid <> pg_backend_pid())";
  return static_cast<int>(Need(Cluster::Get().Connect()->Query(kEnd, {name_})).Int(0, 0));
}

}  // namespace stepscope
