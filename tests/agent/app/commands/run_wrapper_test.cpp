// The program as a wrapper that nobody notices, and what of the command stays on its node.

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include <cstdlib>
#include <fstream>

#include "agent/host/process_text.h"
#include "core/base/json.h"
#include "core/base/text.h"
#include "tests/support/agent_process.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_ingest.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using test::FakeIngest;
using test::FakeRoot;

using Words = std::vector<std::string>;

struct RunAsWrapper : testing::Test {
  Words Run(const std::string& script, Words options = {}) const {
    Words words = {"run",   "--server", service.url(),
                   "--job", "job-1",    "--push",
                   "1s",    "--socket", folder.path() + "/agent.sock"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", script});
    return words;
  }

  FakeRoot folder;
  FakeIngest service;
};

TEST_F(RunAsWrapper, TakesAwayWhatTheCommandLeftBehind) {
  // An orphan that ends, and then as many children of the agent as there are zombies.
  AgentProcess agent(
      Run("(sleep 0.1 & echo $! >&2) ; sleep 1; "
          "cat /proc/[0-9]*/stat 2>/dev/null | grep -c \") Z $PPID \""));
  EXPECT_EQ(agent.Wait(), 1);  // grep has found none
  EXPECT_TRUE(agent.WaitForOut("0\n"));
}

char StateOf(pid_t pid) {
  std::ifstream file(Format("/proc/{}/stat", pid));
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  const auto stat = ParseProcessStat(text);
  return stat ? stat->state : '?';
}

// As a shell's job control wants it: the shell waits for the agent.
TEST_F(RunAsWrapper, StopsWithACommandThatStopsItselfInTheForeground) {
  AgentProcess agent(Run("echo ready; kill -STOP $$; echo again; exit 5"), 24, 80);
  ASSERT_TRUE(agent.WaitForOut("ready"));
  ASSERT_TRUE(Eventually([&] { return StateOf(agent.pid()) == 'T'; }));
  EXPECT_EQ(agent.out().find("again"), std::string::npos);
  agent.Signal(SIGCONT);
  EXPECT_EQ(agent.Wait(), 5);
  EXPECT_TRUE(agent.WaitForOut("again"));
}

TEST_F(RunAsWrapper, GoesOnWhenSomebodyStopsItsCommandInTheBackground) {
  AgentProcess agent(Run("echo $$; sleep 60"));
  ASSERT_TRUE(agent.WaitForOut("\n"));
  const auto command = static_cast<pid_t>(std::atoi(agent.out().c_str()));
  kill(command, SIGSTOP);
  ASSERT_TRUE(Eventually([&] { return StateOf(command) == 'T'; }));
  usleep(100'000);  // time in which it would stop, too
  EXPECT_NE(StateOf(agent.pid()), 'T');
  kill(command, SIGKILL);
  EXPECT_EQ(agent.Wait(), -SIGKILL);
}

TEST_F(RunAsWrapper, PassesOnRealTimeSignals) {
  AgentProcess agent(
      {"run", "--server", service.url(), "--job", "job-1", "--socket", folder.path() + "/a.sock",
       "--", "/usr/bin/python3", "-c",
       "import signal, sys; wanted = [signal.SIGRTMIN + 2]; "
       "signal.pthread_sigmask(signal.SIG_BLOCK, wanted); print('ready', flush=True); "
       "sys.exit(9 if signal.sigtimedwait(wanted, 60) else 1)"});
  ASSERT_TRUE(agent.WaitForOut("ready"));
  agent.Signal(SIGRTMIN + 2);
  EXPECT_EQ(agent.Wait(), 9);
}

TEST_F(RunAsWrapper, PassesOnNoSignalThatTheCommandHasGotItself) {
  AgentProcess agent(
      {"run", "--server", service.url(), "--job", "job-1", "--socket", folder.path() + "/a.sock",
       "--", "/usr/bin/python3", "-c",
       "import signal, sys, time\n"
       "got = []\n"
       "signal.signal(signal.SIGUSR1, lambda *_: (got.append(1), print('got', len(got))))\n"
       "signal.signal(signal.SIGUSR2, lambda *_: sys.exit(len(got)))\n"
       "print('ready')\n"
       "while True: time.sleep(0.01), sys.stdout.flush()\n"});
  ASSERT_TRUE(agent.WaitForOut("ready"));
  kill(-agent.pid(), SIGUSR1);
  ASSERT_TRUE(agent.WaitForOut("got 1"));
  usleep(200'000);  // time in which it would come again
  kill(-agent.pid(), SIGUSR1);
  ASSERT_TRUE(agent.WaitForOut("got 2"));
  usleep(200'000);
  agent.Signal(SIGUSR1);
  ASSERT_TRUE(agent.WaitForOut("got 3"));
  agent.Signal(SIGUSR2);
  EXPECT_EQ(agent.Wait(), 3);
}

TEST_F(RunAsWrapper, LeavesNoProcessOfItsOwnBehind) {
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  AgentProcess agent(Run("true", {"--no-output"}));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
  prctl(PR_SET_CHILD_SUBREAPER, 0);
}

TEST_F(RunAsWrapper, KeepsTheOrderOfOutputAndErrorsInOneFile) {
  const std::string file = folder.path() + "/both.log";
  const std::string script = Format(
      "exec > {} 2>&1; exec '{}' run --server {} --job job-1 --node node-1 --log-level error "
      "--socket {}/order.sock -- /bin/sh -c '"
      "i=0; while [ $i -lt 1000 ]; do echo $i; i=$((i+1)); echo $i >&2; i=$((i+1)); done'",
      file, AgentProcess::Program(), service.url(), folder.path());
  ASSERT_EQ(std::system(("STEPSCOPE_SPOOL=none; export STEPSCOPE_SPOOL; " + script).c_str()), 0);
  std::ifstream lines(file);
  int wanted = 0;
  for (std::string line; std::getline(lines, line); ++wanted) ASSERT_EQ(line, Format("{}", wanted));
  EXPECT_EQ(wanted, 1000);
}

TEST_F(RunAsWrapper, KeepsSecretsOfTheCommandLineOnTheNode) {
  AgentProcess agent(Run("true --hf_token hf_0123456789abcdefghijklmnop"));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_EQ(service.Events("hf_0123").size(), 0u);
  EXPECT_EQ(service.Events("--hf_token ***").size(), 1u);
}

TEST_F(RunAsWrapper, SendsNoWordOfTheCommandWhenAskedTo) {
  AgentProcess agent(Run("true unspeakable", {"--no-command"}));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_EQ(service.Events(R"("command":[])").size(), 1u);
  EXPECT_EQ(service.Events("unspeakable").size(), 0u);
}

TEST_F(RunAsWrapper, TellsTheUserWhoseTheCommandHasBecome) {
  if (geteuid() != 0) GTEST_SKIP() << "only root may start a command as another user";
  AgentProcess agent(Run("exec /usr/bin/setpriv --reuid 65534 --clear-groups sleep 60"));
  EXPECT_TRUE(Eventually([&] {
    return !service.Events(R"("user":"nobody")").empty() ||
           !service.Events(R"("user":"uid 65534")").empty();
  }));
  agent.Signal(SIGTERM);
  EXPECT_EQ(agent.Wait(), -SIGTERM);
}

TEST_F(RunAsWrapper, TakesANameWithUnderscoresAndDots) {
  AgentProcess agent(Run("echo $STEPSCOPE_JOB", {"--job", "_bert_base.v2."}));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(agent.WaitForOut("bert-base-v2\n"));
  EXPECT_TRUE(agent.WaitForErr("job _bert_base.v2. is called bert-base-v2"));
}

TEST_F(RunAsWrapper, TakesTheNextNameWhereAJobOfThisNameHasEnded) {
  service.End("job-1");
  service.End("job-1-2");
  AgentProcess agent(Run("echo $STEPSCOPE_JOB"));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(agent.WaitForOut("job-1-3\n"));
  EXPECT_TRUE(agent.WaitForErr("job job-1 has ended before: this run is job-1-3"));
  EXPECT_TRUE(agent.WaitForErr(service.url() + "/jobs/job-1-3"));
  AgentProcess strict(Run("echo $STEPSCOPE_JOB", {"--strict-name"}));
  EXPECT_EQ(strict.Wait(), 0);
  EXPECT_TRUE(strict.WaitForOut("job-1\n"));
}

TEST_F(RunAsWrapper, SaysThatTheCommandStandsBehindTwoDashes) {
  AgentProcess agent({"run", "--job", "x1", "sleep", "1"});
  EXPECT_EQ(agent.Wait(), 2);
  EXPECT_TRUE(
      agent.WaitForErr("unexpected argument 'sleep': the command to run stands behind '--'"));
}

}  // namespace
}  // namespace stepscope
