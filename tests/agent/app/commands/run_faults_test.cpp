// Commands that do not behave: the agent must neither end before them nor keep them, nor change how
// they end.

#include <gtest/gtest.h>
#include <signal.h>

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

struct RunFaults : testing::Test {
  std::vector<std::string> Run(const std::string& script) const {
    return {"run",
            "--server",
            service.url(),
            "--job",
            "job-1",
            "--node",
            "node-1",
            "--interval",
            "100ms",
            "--push",
            "1s",
            "--socket",
            folder.path() + "/agent.sock",
            "--",
            "/bin/sh",
            "-c",
            script};
  }
  // The process id that the command printed first.
  static pid_t NumberFrom(const AgentProcess& agent) {
    EXPECT_TRUE(agent.WaitForOut("\n"));
    return static_cast<pid_t>(std::atoi(agent.out().c_str()));
  }
  static bool IsStopped(pid_t pid) {
    std::ifstream file(Format("/proc/{}/stat", pid));
    const std::string text((std::istreambuf_iterator<char>(file)), {});
    const auto stat = ParseProcessStat(text);
    return stat && stat->state == 'T';
  }
  Json End() const {
    const auto ended = service.Events(R"("event":"ended")");
    EXPECT_EQ(ended.size(), 1u);
    return ended.empty() ? Json() : *ParseJson(ended[0]);
  }

  FakeRoot folder;
  FakeIngest service;
};

TEST_F(RunFaults, WaitsForACommandThatIgnoresTheSignalToEnd) {
  AgentProcess agent(Run("trap '' TERM; echo ready; sleep 2; exit 5"));
  ASSERT_TRUE(agent.WaitForOut("ready\n"));
  agent.Signal(SIGTERM);
  EXPECT_EQ(agent.Wait(), 5);
  EXPECT_EQ(End()["exit_code"], 5);
}

TEST_F(RunFaults, AStoppedCommandHasNotEnded) {
  AgentProcess agent(Run("echo $$; kill -STOP $$; exit 6"));
  const pid_t command = NumberFrom(agent);
  ASSERT_GT(command, 1);
  ASSERT_TRUE(Eventually([&] { return IsStopped(command); }));
  ASSERT_TRUE(Eventually([&] { return service.Events(R"("event":"started")").size() == 1; }));
  EXPECT_TRUE(service.Events(R"("event":"ended")").empty());
  ASSERT_EQ(kill(command, SIGCONT), 0);
  EXPECT_EQ(agent.Wait(), 6);
}

TEST_F(RunFaults, GoesOnAfterItWasStoppedItself) {
  AgentProcess agent(Run("echo ready; sleep 3; exit 7"));
  ASSERT_TRUE(agent.WaitForOut("ready\n"));
  agent.Signal(SIGSTOP);
  ASSERT_TRUE(Eventually([&] { return IsStopped(agent.pid()); }));
  agent.Signal(SIGCONT);
  EXPECT_EQ(agent.Wait(), 7);
  EXPECT_EQ(End()["exit_code"], 7);
}

TEST_F(RunFaults, DoesNotWaitForADaemonThatTheCommandLeavesBehind) {
  AgentProcess agent(Run("setsid sleep 300 >/dev/null & echo $!; exit 8"));
  const pid_t daemon = NumberFrom(agent);
  ASSERT_GT(daemon, 1);
  EXPECT_EQ(agent.Wait(), 8) << "it holds the pipe of standard error";
  EXPECT_EQ(kill(daemon, 0), 0) << "it is left alone";
  EXPECT_EQ(kill(daemon, SIGKILL), 0);
}

TEST_F(RunFaults, ACommandThatForksEndsWithItsFirstProcess) {
  AgentProcess agent(Run("(sleep 1; echo late) & exit 9"));
  EXPECT_EQ(agent.Wait(), 9);
  EXPECT_TRUE(agent.WaitForOut("late\n")) << "its child goes on";
}

TEST_F(RunFaults, ACommandThatDumpsCoreEndsBySignal) {
  AgentProcess agent(Run(Format("cd {} && ulimit -c 1024 && kill -ABRT $$", folder.path())));
  EXPECT_EQ(agent.Wait(), -SIGABRT);
  EXPECT_EQ(End()["signal"], SIGABRT);
}

}  // namespace
}  // namespace stepscope
