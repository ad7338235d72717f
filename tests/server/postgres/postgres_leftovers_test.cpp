// Processes that are ended when a server starts, and processes that are not.

#include <signal.h>
#include <sys/wait.h>

#include "tests/server/postgres/embedded_fixture.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

class Leftovers : public Embedded {
 protected:
  // A program that does nothing for a minute, in the folder of the cluster.
  pid_t StandIn(const std::string& program) {
    const std::string at = cluster();
    const pid_t pid = fork();
    if (pid == 0) {
      if (chdir(at.c_str()) == 0) execl(program.c_str(), program.c_str(), "60", nullptr);
      _exit(1);
    }
    const std::string name = fs::path(program).filename().string().substr(0, 15);
    EXPECT_TRUE(Await(10s, [&] {
      std::string runs;
      std::ifstream(Format("/proc/{}/comm", pid)) >> runs;
      return runs == name;
    }));
    return pid;
  }
  // Starts that program under another name, beside the cluster.
  pid_t StandInAs(const std::string& name) {
    const fs::path program = folder_ / "bin" / name;
    fs::create_directories(program.parent_path());
    fs::copy_file("/bin/sleep", program, fs::copy_options::overwrite_existing);
    return StandIn(program.string());
  }
  // Ends the program; false when it had ended before.
  bool EndStanding(pid_t pid) {
    const bool lives = waitpid(pid, nullptr, WNOHANG) == 0;
    if (!lives) return false;
    kill(pid, SIGKILL);
    waitpid(pid, nullptr, 0);
    return true;
  }
};

// The shell of an admin, or a backup.
TEST_F(Leftovers, StrangerInTheFolderLives) {
  ASSERT_TRUE(Start());
  postgres_.reset();
  const pid_t stranger = StandIn("/bin/sleep");
  const Status started = Start();
  EXPECT_TRUE(started) << started.error().message;
  if (started) ExpectServes();
  EXPECT_TRUE(EndStanding(stranger));
}

TEST_F(Leftovers, ServerIsKnownAfterItsProgramWasReplaced) {
  fs::create_directories(cluster());
  const pid_t server = StandInAs("postgres");
  fs::remove(folder_ / "bin" / "postgres");
  EXPECT_EQ(PostgresIn(cluster()), std::vector<pid_t>{server});
  EXPECT_TRUE(EndStanding(server));
}

TEST_F(Leftovers, ServerIsKnownByEitherOfItsNames) {
  fs::create_directories(cluster());
  const pid_t postmaster = StandInAs("postmaster");
  EXPECT_EQ(PostgresIn(cluster()), std::vector<pid_t>{postmaster});
  EXPECT_TRUE(EndStanding(postmaster));
  const fs::path link = folder_ / "bin" / "database";  // its target has the server's name
  fs::copy_file("/bin/sleep", folder_ / "bin" / "postgres");
  fs::create_symlink("postgres", link);
  const pid_t linked = StandIn(link.string());
  EXPECT_EQ(PostgresIn(cluster()), std::vector<pid_t>{linked});
  EXPECT_TRUE(EndStanding(linked));
}

// A package may start it under a name of its own. Without the number it might be a script.
TEST_F(Leftovers, WrappedServerIsKnownByItsNumber) {
  pid_t server = 0;
  LeavePidFile([&] { return server = StandInAs(".postgres-wrapped"); });
  EXPECT_TRUE(PostgresIn(cluster()).empty());
  EXPECT_EQ(PostgresIn(cluster(), server), std::vector<pid_t>{server});
  const Status started = Start();
  ASSERT_TRUE(started) << started.error().message;
  ExpectServes();
  EXPECT_FALSE(EndStanding(server)) << "it was ended before";
}

// The process cannot be identified: it is not ended, nor does a server start beside it.
TEST_F(Leftovers, StrangerWithTheNumberOfTheServerIsNamed) {
  pid_t stranger = 0;
  LeavePidFile([&] { return stranger = StandIn("/bin/sleep"); });
  const Status started = Start();
  ASSERT_FALSE(started);
  EXPECT_EQ(started.error().code, Code::kUnavailable);
  EXPECT_NE(started.error().message.find(Format("process {} works in this folder", stranger)),
            std::string::npos)
      << started.error().message;
  EXPECT_TRUE(EndStanding(stranger));
  EXPECT_TRUE(Start());
}

}  // namespace
}  // namespace stepscope
