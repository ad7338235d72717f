// The embedded server against everything that was seen to go wrong with one.

#include "server/store/embedded_postgres.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/clock.h"
#include "core/base/text.h"
#include "server/store/database.h"
#include "server/store/postgres_process.h"
#include "server/store/postgres_programs.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

template <typename Ready>
bool Await(Duration at_most, Ready&& ready) {
  const SteadyTime until = SystemClock().Steady() + at_most;
  while (!ready()) {
    if (SystemClock().Steady() > until) return false;
    std::this_thread::sleep_for(20ms);
  }
  return true;
}

class Embedded : public ::testing::Test {
 protected:
  Embedded() {
    char path[] = "/tmp/stepscope-embedded-XXXXXX";
    folder_ = fs::canonical(mkdtemp(path));
  }
  ~Embedded() override {
    postgres_.reset();
    fs::remove_all(folder_);
  }

  Status Start() {
    auto started = EmbeddedPostgres::Start(Options());
    if (!started) return started.error();
    postgres_ = std::move(*started);
    return {};
  }
  EmbeddedPostgresOptions Options() const {
    return {folder_.string(), "", {"fsync=off", "shared_buffers=16MB"}};
  }
  std::string cluster() const { return (folder_ / "postgres").string(); }
  std::string pid_path() const { return cluster() + "/postmaster.pid"; }

  std::unique_ptr<Connection> Connect() {
    auto connection = Connection::Open(postgres_->url());
    EXPECT_TRUE(connection) << connection.error().message;
    return connection ? std::move(*connection) : nullptr;
  }
  void ExpectServes() {
    const auto connection = Connect();
    ASSERT_NE(connection, nullptr);
    EXPECT_TRUE(connection->Query("select 1"));
  }
  bool AwaitServing() {
    return Await(30s, [this] { return Connection::Open(postgres_->url()).ok(); });
  }

  fs::path folder_;
  std::unique_ptr<EmbeddedPostgres> postgres_;
};

TEST_F(Embedded, KeepsItsDataOverARestart) {
  ASSERT_TRUE(Start());
  ASSERT_TRUE(Connect()->Execute("create table kept (x integer)"));
  ASSERT_TRUE(postgres_->Stop());
  EXPECT_TRUE(ProcessesIn(cluster()).empty());
  postgres_.reset();
  ASSERT_TRUE(Start());
  EXPECT_TRUE(Connect()->Query("select * from kept"));
}

TEST_F(Embedded, SecondServerOnTheFolderIsRefusedByProcess) {
  ASSERT_TRUE(Start());
  const auto second = EmbeddedPostgres::Start(Options());
  ASSERT_FALSE(second);
  EXPECT_EQ(second.error().code, Code::kUnavailable);
  EXPECT_NE(second.error().message.find(Format("in use by process {}", getpid())),
            std::string::npos)
      << second.error().message;
  ExpectServes();
}

TEST_F(Embedded, KilledServerIsStartedAgain) {
  ASSERT_TRUE(Start());
  const auto connection = Connect();
  ASSERT_TRUE(connection->Execute("create table kept (x integer)"));
  const int killed = postgres_->pid();
  kill(killed, SIGKILL);
  ASSERT_TRUE(Await(10s, [&] { return postgres_->pid() != killed; }));
  ASSERT_TRUE(AwaitServing());
  EXPECT_TRUE(Connect()->Query("select * from kept"));
  EXPECT_TRUE(connection->broken());
}

TEST_F(Embedded, KilledAgainAndAgainItIsBackAsSoonAsTheFirstTime) {
  ASSERT_TRUE(Start());
  for (int round = 0; round < 4; ++round) {
    const int killed = postgres_->pid();
    ASSERT_GT(killed, 0);
    kill(killed, SIGKILL);
    ASSERT_TRUE(Await(4s, [&] { return postgres_->pid() > 0 && postgres_->pid() != killed; }));
    ASSERT_TRUE(AwaitServing());
    // The watch has seen it ready.
    std::this_thread::sleep_for(200ms);
  }
}

TEST_F(Embedded, KilledBackendOnlyEndsSessions) {
  ASSERT_TRUE(Start());
  const int server = postgres_->pid();
  const auto victim = Connect();
  kill(static_cast<pid_t>(victim->Query("select pg_backend_pid()")->Int(0, 0)), SIGKILL);
  ASSERT_TRUE(Await(10s, [&] { return victim->broken(); }));
  ASSERT_TRUE(AwaitServing());
  EXPECT_EQ(postgres_->pid(), server);
}

TEST_F(Embedded, EmptyPidFileIsCleared) {
  ASSERT_TRUE(Start());
  postgres_.reset();
  std::ofstream(pid_path()).flush();
  ASSERT_TRUE(fs::exists(pid_path()));
  const Status started = Start();
  ASSERT_TRUE(started) << started.error().message;
  ExpectServes();
}

TEST_F(Embedded, PidFileOfAForeignProcessIsTakenOver) {
  ASSERT_TRUE(Start());
  std::stringstream content;
  content << std::ifstream(pid_path()).rdbuf();
  postgres_.reset();
  const std::string text = content.str();
  // The number now belongs to this program, as after a restart of a container.
  std::ofstream(pid_path()) << getpid() << text.substr(text.find('\n'));
  const Status started = Start();
  ASSERT_TRUE(started) << started.error().message;
  ExpectServes();
}

TEST_F(Embedded, ServerLeftByAKilledServiceIsEnded) {
  ASSERT_TRUE(Start());
  postgres_.reset();
  // A service that starts a server, tells its number, and is killed.
  int tell[2];
  ASSERT_EQ(pipe(tell), 0);
  const pid_t service = fork();
  if (service == 0) {
    auto postgres = EmbeddedPostgres::Start(Options());
    const int pid = postgres ? (*postgres)->pid() : -1;
    if (write(tell[1], &pid, sizeof pid) < 0) _exit(1);
    pause();
    _exit(0);
  }
  int server = 0;
  ASSERT_EQ(read(tell[0], &server, sizeof server), static_cast<ssize_t>(sizeof server));
  close(tell[0]);
  close(tell[1]);
  ASSERT_GT(server, 0);
  kill(service, SIGKILL);
  waitpid(service, nullptr, 0);
  // The kernel tells the server to shut down; whether it is through with it or not, we start.
  const Status started = Start();
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_NE(postgres_->pid(), server);
  ExpectServes();
}

TEST_F(Embedded, HalfMadeClusterIsMadeAnew) {
  fs::create_directories(folder_ / "postgres.new" / "base");
  std::ofstream(folder_ / "postgres.new" / "PG_VERSION") << "15\n";
  const Status started = Start();
  ASSERT_TRUE(started) << started.error().message;
  EXPECT_FALSE(fs::exists(folder_ / "postgres.new"));
}

TEST_F(Embedded, FolderOfAnotherVersionIsRefusedByName) {
  fs::create_directories(cluster());
  std::ofstream(cluster() + "/PG_VERSION") << "99\n";
  const Status started = Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::kInvalid);
  EXPECT_NE(started.error().message.find("postgresql-99"), std::string::npos);
}

TEST_F(Embedded, FolderThatIsNoClusterIsLeftAlone) {
  fs::create_directories(cluster());
  std::ofstream(cluster() + "/precious.txt") << "mine";
  EXPECT_FALSE(Start());
  EXPECT_TRUE(fs::exists(cluster() + "/precious.txt"));
}

TEST_F(Embedded, MissingProgramsAreNamed) {
  const auto programs = FindPostgres((folder_ / "nothing").string(), std::nullopt);
  ASSERT_FALSE(programs);
  EXPECT_NE(programs.error().message.find("initdb"), std::string::npos);
  EXPECT_GE(FindPostgres("", std::nullopt)->major, 14);
}

TEST_F(Embedded, ServerThatCannotStartSaysWhy) {
  EmbeddedPostgresOptions options = Options();
  options.settings.push_back("shared_buffers=nonsense");
  const auto started = EmbeddedPostgres::Start(options);
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("shared_buffers"), std::string::npos)
      << started.error().message;
}

}  // namespace
}  // namespace stepscope
