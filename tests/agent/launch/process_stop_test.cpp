// Stops of real processes by real signals.

#include "agent/launch/process_stop.h"

#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>

#include <filesystem>

#include "core/base/text.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_clock.h"
#include "tests/support/fake_root.h"

extern char** environ;

namespace stepscope {
namespace {

constexpr Duration kGrace = 120s;

// A shell script as a child of this process, which is killed with it.
class Script {
 public:
  explicit Script(std::string text) {
    char shell[] = "/bin/sh", c[] = "-c";
    char* words[] = {shell, c, text.data(), nullptr};
    posix_spawn(&pid_, shell, nullptr, nullptr, words, environ);
  }
  ~Script() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  pid_t pid() const { return pid_; }
  // The signal that ended it; 0 while it runs.
  int EndedBy() const {
    siginfo_t info{};
    waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT);
    return info.si_pid == pid_ ? info.si_status : 0;
  }

 private:
  pid_t pid_ = -1;
};

using test::FakeClock;

struct ProcessStopTest : testing::Test {
  std::string File(const char* name) const { return folder.path() + "/" + name; }
  bool Exists(const char* name) const { return std::filesystem::exists(File(name)); }
  bool Appears(const char* name) const {
    return Eventually([&] { return Exists(name); });
  }
  // A loop that writes a file again and again, and runs `told` at SIGTERM.
  std::string Loop(const char* runs, const std::string& told) const {
    return Format("trap '{}' TERM; while :; do : > {}; sleep 0.05; done", told, File(runs));
  }
  // Waits for two turns of the loop: by then it has handled the signal.
  void WaitForTurns(const char* runs) const {
    for (int turn = 0; turn < 2; ++turn) {
      std::filesystem::remove(File(runs));
      EXPECT_TRUE(Appears(runs));
    }
  }
  bool Ends(ProcessStop& stop) const {
    return Eventually([&] {
      stop.Continue();
      return stop.Over();
    });
  }

  test::FakeRoot folder;
  FakeClock clock;
};

TEST_F(ProcessStopTest, EndsACommandWithSigterm) {
  const Script command("exec sleep 1000");
  ProcessStop stop(kGrace, clock);
  stop.Add({command.pid()});
  EXPECT_TRUE(Ends(stop));
  EXPECT_EQ(command.EndedBy(), SIGTERM);
}

TEST_F(ProcessStopTest, TellsWhomTheCommandLeftBehind) {
  const Script command(Format("( {} ) & wait", Loop("runs", ": > " + File("told") + "; exit")));
  ASSERT_TRUE(Appears("runs"));
  ProcessStop stop(kGrace, clock);
  stop.Add({command.pid()});
  EXPECT_TRUE(Ends(stop));
  EXPECT_TRUE(Exists("told")) << "nobody else could tell it";
}

TEST_F(ProcessStopTest, LeavesItToTheCommandToTellItsChildren) {
  const Script command(Format("( {} ) & {}", Loop("child", ": > " + File("told")),
                              Loop("command", ": > " + File("heard"))));
  ASSERT_TRUE(Appears("child") && Appears("command"));
  ProcessStop stop(kGrace, clock);
  stop.Add({command.pid()});
  stop.Continue();
  ASSERT_TRUE(Appears("heard"));
  for (int i = 0; i < 3; ++i) stop.Continue();
  WaitForTurns("child");
  EXPECT_FALSE(stop.Over());
  EXPECT_FALSE(Exists("told"));
  clock.Advance(kGrace);
  EXPECT_TRUE(Ends(stop));
  EXPECT_EQ(command.EndedBy(), SIGKILL);
}

TEST_F(ProcessStopTest, KillsOnlyWhenTheGraceIsOver) {
  const Script command(Loop("runs", ":"));
  ASSERT_TRUE(Appears("runs"));
  ProcessStop stop(kGrace, clock);
  stop.Add({command.pid()});
  stop.Continue();
  clock.Advance(kGrace - 1ms);
  stop.Continue();
  WaitForTurns("runs");
  EXPECT_EQ(command.EndedBy(), 0);
  clock.Advance(1ms);
  EXPECT_TRUE(Ends(stop));
  EXPECT_EQ(command.EndedBy(), SIGKILL);
}

TEST_F(ProcessStopTest, EndsProcessesBesideTheCommand) {
  const Script one("exec sleep 1000"), two("exec sleep 1000"), untouched("exec sleep 1000");
  ProcessStop stop(kGrace, clock);
  stop.Add({one.pid(), two.pid()});
  EXPECT_TRUE(Ends(stop));
  EXPECT_EQ(two.EndedBy(), SIGTERM);
  EXPECT_EQ(untouched.EndedBy(), 0);
}

TEST_F(ProcessStopTest, NothingIsDueWhereNobodyRuns) {
  ProcessStop stop(kGrace, clock);
  EXPECT_TRUE(stop.Over());
  stop.Add({0, -1, 999'999'999, getpid()});
  EXPECT_TRUE(stop.Over());
}

}  // namespace
}  // namespace stepscope
