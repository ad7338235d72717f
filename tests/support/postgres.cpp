#include "tests/support/postgres.h"

#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "core/base/text.h"
#include "server/postgres/embedded_postgres.h"
#include "server/store/schema/migrations.h"

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
    const char* const owner = postgres_ ? "stepscope" : "current_user";
    Need(Connect()->Execute(
        Format("create database {} template {} owner {}", name, pattern, owner)));
  }

 private:
  Cluster() : pattern_(Format("stepscope_pattern_{}", getpid())) {
    const char* given = std::getenv("STEPSCOPE_TEST_DATABASE_URL");
    maker_url_ = url_ = given ? given : "";
    if (!given) StartOwn();
    Make(pattern_, "template1");
    Need(Migrate(*Need(Connection::Open(WithDatabase(url_, pattern_), 60s))));
  }
  ~Cluster() {
    if (!postgres_) (void)Connect()->Execute("drop database " + pattern_ + " with (force)");
    postgres_.reset();
    std::error_code error;
    if (!folder_.empty()) std::filesystem::remove_all(folder_, error);
  }

  void StartOwn() {
    char path[] = "/tmp/stepscope-test-XXXXXX";
    if (!mkdtemp(path)) GiveUp("no temporary folder");
    folder_ = path;
    EmbeddedPostgresOptions options{folder_, "", {std::begin(kFast), std::end(kFast)}};
    postgres_ = Need(EmbeddedPostgres::Start(options));
    url_ = postgres_->url();
    maker_url_ = postgres_->superuser_url();
  }

  std::string url_, maker_url_, pattern_, folder_;
  std::unique_ptr<EmbeddedPostgres> postgres_;
};

}  // namespace

TestDatabase::TestDatabase() : TestDatabase(Cluster::Get().pattern()) {}

TestDatabase TestDatabase::Empty() {
  return TestDatabase("template0");
}

TestDatabase::TestDatabase(const std::string& pattern) {
  static std::atomic<int> count = 0;
  name_ = Format("stepscope_test_{}_{}", getpid(), ++count);
  url_ = WithDatabase(Cluster::Get().url(), name_);
  Cluster::Get().Make(name_, pattern);
}

TestDatabase::~TestDatabase() {
  Need(Cluster::Get().Connect()->Execute("drop database " + name_ + " with (force)"));
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
