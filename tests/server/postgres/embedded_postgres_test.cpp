// The embedded server against everything that was seen to go wrong with one.

#include "server/postgres/embedded_postgres.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <future>
#include <thread>

#include "core/base/text.h"
#include "server/postgres/postgres_programs.h"
#include "tests/server/postgres/embedded_fixture.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

TEST_F(Embedded, KeepsItsDataOverARestart) {
  ASSERT_TRUE(Start());
  ASSERT_TRUE(Connect()->Execute("create table kept (x integer)"));
  ASSERT_TRUE(postgres_->Stop());
  EXPECT_TRUE(PostgresIn(cluster()).empty());
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

// A backend that does not notice holds the fast shutdown up, and no longer than was said.
TEST_F(Embedded, ServerThatDoesNotStopIsToldToStopAtOnce) {
  EmbeddedPostgresOptions options = Options();
  options.stops_within = 100ms;
  ASSERT_TRUE(Start(options));
  const auto session = Connect();
  const auto backend = static_cast<pid_t>(session->Query("select pg_backend_pid()")->Int(0, 0));
  kill(backend, SIGSTOP);
  std::jthread stopping([&] { (void)postgres_->Stop(); });
  EXPECT_TRUE(Await(5s, [&] { return LogSays("received immediate shutdown request"); }));
  kill(backend, SIGCONT);
  stopping.join();
  EXPECT_TRUE(LogSays("received fast shutdown request"));
  EXPECT_TRUE(PostgresIn(cluster()).empty());
}

TEST_F(Embedded, ServerThatDoesNotListenIsKilled) {
  EmbeddedPostgresOptions options = Options();
  options.stops_within = options.quits_within = 100ms;
  ASSERT_TRUE(Start(options));
  ASSERT_TRUE(Connect()->Execute("create table kept (x integer)"));
  const pid_t server = postgres_->pid();
  kill(server, SIGSTOP);
  ASSERT_TRUE(postgres_->Stop());
  EXPECT_NE(kill(server, 0), 0) << "it is gone, and not a zombie";
  EXPECT_FALSE(LogSays("shutdown request"));
  EXPECT_TRUE(Await(10s, [&] { return PostgresIn(cluster()).empty(); }));
  postgres_.reset();
  ASSERT_TRUE(Start());
  EXPECT_TRUE(Connect()->Query("select * from kept"));
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

// The folder is as after a restart of a container.
TEST_F(Embedded, PidFileOfAForeignProcessIsTakenOver) {
  StartsBesideAProcess(getpid());
}

// For kill(2) the number of a thread is one of a process.
TEST_F(Embedded, PidFileOfAForeignThreadIsTakenOver) {
  std::promise<pid_t> number;
  std::promise<void> done;
  std::jthread thread([&, over = done.get_future()] {
    number.set_value(gettid());
    over.wait();
  });
  const pid_t tid = number.get_future().get();
  EXPECT_NE(tid, getpid());
  StartsBesideAProcess(tid);
  done.set_value();
}

// The child has ended and is not reaped: its number is taken all the same.
TEST_F(Embedded, PidFileOfAZombieIsTakenOver) {
  const pid_t zombie = fork();
  if (zombie == 0) _exit(0);
  siginfo_t ended{};
  ASSERT_EQ(waitid(P_PID, static_cast<id_t>(zombie), &ended, WEXITED | WNOWAIT), 0);
  ASSERT_EQ(kill(zombie, 0), 0) << "it stands for a process still";
  StartsBesideAProcess(zombie);
  EXPECT_EQ(waitpid(zombie, nullptr, 0), zombie);
}

// A backend that is busy does not notice that its server died, and keeps the shared memory.
TEST_F(Embedded, BusyBackendOfAKilledServerIsEnded) {
  ASSERT_TRUE(Start());
  const auto busy = Connect();
  const auto backend = static_cast<pid_t>(busy->Query("select pg_backend_pid()")->Int(0, 0));
  std::jthread asking([&] { (void)busy->Execute("do $$ begin loop end loop; end $$"); });
  const auto other = Connect();
  const auto is_busy = [&] {
    const auto rows = other->Query("select 1 from pg_stat_activity where query like 'do %loop%'");
    return rows && !rows->empty();
  };
  ASSERT_TRUE(Await(10s, is_busy));
  const int killed = postgres_->pid();
  kill(killed, SIGKILL);
  EXPECT_TRUE(Await(40s, [&] { return postgres_->pid() > 0 && postgres_->pid() != killed; }));
  EXPECT_TRUE(AwaitServing());
  EXPECT_EQ(std::ranges::count(PostgresIn(cluster()), backend), 0);
}

// A server that recovers refuses connections (57P03); that is no failure, and ends.
TEST_F(Embedded, RecoveryOfAKilledServerIsAwaited) {
  ASSERT_TRUE(Start());
  ASSERT_TRUE(Connect()->Execute("create table kept as select generate_series(1, 1000000) as x"));
  kill(postgres_->pid(), SIGKILL);
  pid_t recovering = 0;
  ASSERT_TRUE(Await(20s, [&] { return (recovering = ProcessTitled("postgres: startup")) != 0; }));
  kill(recovering, SIGSTOP);
  const auto early = Connection::Open(postgres_->url());
  ASSERT_FALSE(early);
  EXPECT_EQ(early.error().code, Code::kUnavailable);
  EXPECT_NE(early.error().message.find("the database system is "), std::string::npos)
      << early.error().message;
  const int server = postgres_->pid();
  kill(recovering, SIGCONT);
  ASSERT_TRUE(AwaitServing());
  EXPECT_EQ(postgres_->pid(), server) << "nobody lost patience";
  EXPECT_EQ(Connect()->Query("select count(*) from kept")->Int(0, 0), 1'000'000);
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
