// Who is ended when a server starts, and who is not.

#include <signal.h>
#include <sys/wait.h>

#include "tests/server/store/embedded_fixture.h"

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
    const std::string name = fs::path(program).filename().string();
    EXPECT_TRUE(Await(10s, [&] {
      std::string runs;
      std::ifstream(Format("/proc/{}/comm", pid)) >> runs;
      return runs == name;
    }));
    return pid;
  }
  // Whether nobody had ended it before.
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
  const fs::path program = folder_ / "postgres-bin" / "postgres";
  fs::create_directories(program.parent_path());
  fs::copy_file("/bin/sleep", program);
  const pid_t server = StandIn(program.string());
  fs::remove(program);
  EXPECT_EQ(PostgresIn(cluster()), std::vector<pid_t>{server});
  EXPECT_TRUE(EndStanding(server));
}

}  // namespace
}  // namespace stepscope
