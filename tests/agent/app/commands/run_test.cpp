// The whole program, with real commands, real signals and a service over real HTTP.

#include <gtest/gtest.h>
#include <sched.h>
#include <signal.h>

#include <fstream>

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
using test::ScriptedServer;

using Words = std::vector<std::string>;

struct RunTest : testing::Test {
  Words Run(const std::string& url, const std::string& script, Words options = {}) const {
    Words words = {"run",
                   "--server",
                   url,
                   "--job",
                   "job-1",
                   "--interval",
                   "100ms",
                   "--node",
                   "node-1",
                   "--push",
                   "1s",
                   "--socket",
                   folder.path() + "/agent.sock"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", script});
    return words;
  }
  // An address at which nothing listens.
  static std::string NoService() {
    return ScriptedServer([](test::Peer&) {}).url();
  }

  FakeRoot folder;
  FakeIngest service;
};

TEST_F(RunTest, SaysWhichCoresTheCommandMayUse) {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  cpu_set_t before;
  ASSERT_EQ(sched_getaffinity(0, sizeof before, &before), 0);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  AgentProcess agent(Run(service.url(), "true"));
  sched_setaffinity(0, sizeof before, &before);
  EXPECT_EQ(agent.Wait(), 0);
  const auto events = service.Events(R"("event":"started")");
  ASSERT_FALSE(events.empty());
  EXPECT_EQ((*ParseJson(events[0]))["facts"]["cores_allowed"], 1);
}

TEST_F(RunTest, PassesOutputAndExitCodeThrough) {
  AgentProcess agent(Run(service.url(), "echo to-out; echo to-err >&2; exit 7"));
  EXPECT_EQ(agent.Wait(), 7);
  EXPECT_TRUE(agent.WaitForOut("to-out\n"));
  EXPECT_TRUE(agent.WaitForErr("to-err\n"));
  EXPECT_TRUE(agent.WaitForErr(service.url() + "/jobs/job-1"));
}

TEST_F(RunTest, WarnsOfWhatLetsPyTorchCrash) {
  setenv("KINETO_USE_DAEMON", "1", 1);
  AgentProcess agent(Run(service.url(), "exit 0"));
  unsetenv("KINETO_USE_DAEMON");
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(agent.WaitForErr("KINETO_USE_DAEMON is set"));
  EXPECT_EQ(service.Events(R"("source":"kineto")").size(), 1u);
}

TEST_F(RunTest, ReportsStartSamplesAndEnd) {
  AgentProcess agent(Run(service.url(),
                         "for i in $(seq 30); do echo line $i >&2; done; sleep 0.5; exit 3",
                         {"--group", "night"}));
  EXPECT_EQ(agent.Wait(), 3);
  const auto started = service.Events(R"("event":"started")");
  ASSERT_EQ(started.size(), 1u);
  const Json start = *ParseJson(started[0]);
  EXPECT_EQ(start["group"], "night");
  EXPECT_EQ(start["interval_ms"], 100);
  EXPECT_EQ(start["command"][0], "/bin/sh");
  EXPECT_GT(start["facts"]["cores"], 0);
  EXPECT_GT(start["facts"]["memory_bytes"], 0);
  const bool no_gpu = started[0].find(R"("source":"gpu")") != started[0].npos;
  EXPECT_EQ(start["facts"]["gpus"].empty(), no_gpu);
  const auto ended = service.Events(R"("event":"ended")");
  ASSERT_EQ(ended.size(), 1u);
  const Json end = *ParseJson(ended[0]);
  EXPECT_EQ(end["exit_code"], 3);
  EXPECT_FALSE(end.contains("signal"));
  EXPECT_EQ(end["output"].size(), 20u);
  EXPECT_EQ(end["output"].back(), "line 30");
  const auto frames = service.frames();
  EXPECT_EQ(frames.front().payload, started[0]);
  EXPECT_EQ(frames.back().payload, ended[0]);
  EXPECT_TRUE(std::ranges::any_of(
      frames, [](const Frame& frame) { return frame.head.kind == FrameKind::kTicks; }));
  EXPECT_EQ(service.connections(), 2);  // for the name, and for the pushes
}

TEST_F(RunTest, EndsByTheSignalThatEndedTheCommand) {
  AgentProcess agent(Run(service.url(), "kill -SEGV $$"));
  EXPECT_EQ(agent.Wait(), -SIGSEGV);
  const auto ended = service.Events(R"("event":"ended")");
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ((*ParseJson(ended[0]))["signal"], SIGSEGV);
}

TEST_F(RunTest, SaysThatThereIsNoSuchCommandAndMakesNoJob) {
  Words words = Run(service.url(), "");
  words.erase(words.end() - 3, words.end());
  Words missing = words, not_executable = words;
  missing.push_back("no-such-command-here");
  not_executable.push_back("/etc/passwd");
  AgentProcess first(missing), second(not_executable);
  EXPECT_EQ(first.Wait(), 127);
  EXPECT_TRUE(first.WaitForErr("no-such-command-here: command not found"));
  EXPECT_EQ(second.Wait(), 126);
  EXPECT_TRUE(service.frames().empty());
}

TEST_F(RunTest, TellsTheCommandWhereTheAgentIs) {
  AgentProcess agent(
      Run(service.url(), "echo $STEPSCOPE_JOB $STEPSCOPE_NODE; test -S $STEPSCOPE_SOCKET"));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(agent.WaitForOut("job-1 node-1\n"));
}

TEST_F(RunTest, RunsTheCommandWhenTheServiceIsAway) {
  AgentProcess agent(Run(NoService(), "echo $$; exit 4"));
  ASSERT_TRUE(agent.WaitForOut("\n"));
  const pid_t command = std::stoi(agent.out());
  EXPECT_TRUE(Eventually([&] { return kill(command, 0) != 0; }));
  EXPECT_TRUE(agent.WaitForErr("cannot connect: Connection refused"));
  // The agent would wait ten seconds for the service; a user who interrupts need not.
  agent.Signal(SIGINT);
  EXPECT_EQ(agent.Wait(), 4);
  EXPECT_TRUE(agent.WaitForErr("not delivered: "));
}

TEST_F(RunTest, RunsTheCommandWhateverAnswersInPlaceOfTheService) {
  ScriptedServer proxy([](test::Peer& peer) {
    while (peer.Read()) peer.Reply(200, "<html>Welcome to nginx!</html>");
  });
  AgentProcess agent(Run(proxy.url(), "echo $$; exit 0"));
  ASSERT_TRUE(agent.WaitForErr("not a Stepscope service"));
  ASSERT_TRUE(agent.WaitForOut("\n"));
  EXPECT_TRUE(Eventually([&] { return kill(std::stoi(agent.out()), 0) != 0; }));
  agent.Signal(SIGINT);
  EXPECT_EQ(agent.Wait(), 0);
}

TEST_F(RunTest, GoesOnUnprofiledWhenTheJobHasEnded) {
  ScriptedServer ended([](test::Peer& peer) {
    while (peer.Read()) {
      peer.Reply(200, EncodePushAnswer({1, 2, {{1, "job-ended", "job job-1 has ended"}}, Time{}}));
    }
  });
  AgentProcess agent(Run(ended.url(), "read line; exit 6 < /dev/null; exit 6"));
  ASSERT_TRUE(agent.WaitForErr("the service takes no more of job job-1: job job-1 has ended"));
  EXPECT_EQ(agent.Wait(), 6);
  EXPECT_EQ(agent.err().find("not delivered"), std::string::npos);
}

TEST_F(RunTest, PassesASignalOn) {
  AgentProcess agent(Run(
      service.url(), "trap 'echo got-it; exit 5' TERM; echo ready; while :; do sleep 0.05; done"));
  ASSERT_TRUE(agent.WaitForOut("ready\n"));
  agent.Signal(SIGTERM);
  EXPECT_EQ(agent.Wait(), 5);
  EXPECT_TRUE(agent.WaitForOut("got-it\n"));
}

TEST_F(RunTest, KeepsTheOutputToItselfWhenToldSo) {
  AgentProcess agent(Run(service.url(), "echo secret-path >&2", {"--no-output"}));
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(agent.WaitForErr("secret-path\n"));
  const auto ended = service.Events(R"("event":"ended")");
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE((*ParseJson(ended[0]))["output"].is_null());
}

TEST_F(RunTest, LeavesTheCommandAloneWhenItIsKilled) {
  const std::string go = folder.path() + "/go";
  AgentProcess agent(Run(service.url(), Format("echo ready; until test -e {}; do sleep 0.02; done; "
                                               "for i in $(seq 2000); do echo err $i >&2; done; "
                                               "echo survived",
                                               go)));
  ASSERT_TRUE(agent.WaitForOut("ready\n"));
  agent.Signal(SIGKILL);
  EXPECT_EQ(agent.Wait(), -SIGKILL);
  folder.Write("/go", "");
  EXPECT_TRUE(agent.WaitForOut("survived\n"));
  agent.WaitForEnd();
  EXPECT_NE(agent.err().find("err 1\n"), std::string::npos);
  EXPECT_TRUE(agent.err().ends_with("err 2000\n"));
}

TEST_F(RunTest, LosesNoByteOfALargeOutput) {
  AgentProcess agent(Run(service.url(), "head -c 3000000 /dev/zero | tr '\\0' '#' >&2"));
  EXPECT_EQ(agent.Wait(), 0);
  agent.WaitForEnd();
  EXPECT_EQ(std::ranges::count(agent.err(), '#'), 3'000'000);
}

TEST_F(RunTest, LeavesATerminalToTheCommand) {
  const std::string one =
      "exec 3>&1; a=$(tty); test $a = $(tty <&3) && test $a = $(tty <&2) && test -t 0";
  AgentProcess agent(Run(service.url(), one + " && stty size <&2; exit 3"), 33, 77);
  EXPECT_EQ(agent.Wait(), 3);
  EXPECT_TRUE(agent.WaitForOut("33 77"));
  const auto ended = service.Events(R"("event":"ended")");
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_TRUE((*ParseJson(ended[0]))["output"].is_null());
}

TEST_F(RunTest, LeavesAShellItsJobControl) {
  Words words = Run(service.url(), "");
  words.resize(words.size() - 3);
  for (const char* word : {"/usr/bin/env", "PS1=ready> ", "/bin/bash", "--norc", "-i"})
    words.push_back(word);
  AgentProcess agent(words, 24, 80);
  ASSERT_TRUE(agent.WaitForOut("ready> "));
  agent.Type("echo be''gun; sleep 50\n");
  ASSERT_TRUE(agent.WaitForOut("begun"));
  EXPECT_TRUE(Eventually([&] {
    agent.Type("\x1a");
    return agent.out().find("Stopped") != std::string::npos;
  }));
  agent.Type("kill -9 %1; exit 4\nexit 4\n");
  EXPECT_EQ(agent.Wait(), 4);
  EXPECT_EQ(agent.out().find("no job control"), std::string::npos);
}

// Where its output is to be read, the command gets another terminal, of the same size.
TEST_F(RunTest, ReadsATerminalForMetricsOnly) {
  const std::string script = "test -t 1 && test -t 2 && stty size <&1; echo loss=3; sleep 0.5";
  AgentProcess agent(Run(service.url(), script, {"--log-metric", "loss=loss=([0-9]+)"}), 33, 77);
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(agent.WaitForOut("33 77"));
  const auto ended = service.Events(R"("event":"ended")");
  ASSERT_EQ(ended.size(), 1u);
  EXPECT_EQ((*ParseJson(ended[0]))["output"].back(), "loss=3");
}

TEST_F(RunTest, LeavesControlCToTheTerminal) {
  // The command gets it once, from the terminal, and the agent waits for it.
  AgentProcess agent(
      Run(service.url(),
          "trap 'n=$((n+1)); echo int-$n' INT; n=0; echo ready; while test $n = 0; do sleep 0.05; "
          "done; sleep 0.2; exit 9"),
      24, 80);
  ASSERT_TRUE(agent.WaitForOut("ready"));
  agent.Type("\x03");
  EXPECT_EQ(agent.Wait(), 9);
  EXPECT_TRUE(agent.WaitForOut("int-1"));
  EXPECT_EQ(agent.out().find("int-2"), std::string::npos);
}

TEST_F(RunTest, RefusesWrongUseWithCodeTwo) {
  const std::vector<Words> wrong = {
      {},
      {"walk"},
      {"run"},
      {"run", "--nonsense"},
      {"run", "--server", "ftp://h", "--job", "j", "--", "true"},
      {"run", "--server", "http://h", "--job", "-", "--", "true"},
      {"run", "--server", "http://h", "--job", "j"},
      {"run", "--server", "https://h", "--job", "j", "--ca-file", "/nowhere", "--", "true"},
  };
  for (const Words& words : wrong) {
    AgentProcess agent(words);
    EXPECT_EQ(agent.Wait(), 2);
    agent.WaitForEnd();
    EXPECT_TRUE(agent.err().find("stepscope-agent") != std::string::npos);
    EXPECT_EQ(std::ranges::count(agent.err(), '\n'), 1) << agent.err();
  }
}

TEST_F(RunTest, TakesOptionsFromItsConfigurationFile) {
  const std::string path = folder.path() + "/agent.toml";
  std::ofstream(path) << "server = \"" << service.url() << "\"\ninterval = '100ms'\n";
  AgentProcess agent({"run", "--config", path, "--job", "j", "--", "true"});
  EXPECT_EQ(agent.Wait(), 0);
  std::ofstream(path) << "server = 'http://h'\nintervall = '100ms'\n";
  AgentProcess wrong({"run", "--config", path, "--job", "j", "--", "true"});
  EXPECT_EQ(wrong.Wait(), 2);
  wrong.WaitForEnd();
  EXPECT_TRUE(wrong.err().find(path + ":2: unknown key 'intervall'") != std::string::npos);
}

TEST_F(RunTest, HelpsWhenAsked) {
  AgentProcess help({"run", "--help"});
  EXPECT_EQ(help.Wait(), 0);
  EXPECT_TRUE(help.WaitForOut("Examples:"));
  EXPECT_TRUE(help.WaitForOut("--interval"));
  AgentProcess same({"help", "run"});
  EXPECT_EQ(same.Wait(), 0);
  EXPECT_TRUE(same.WaitForOut("Examples:"));
  AgentProcess version({"--version"});
  EXPECT_EQ(version.Wait(), 0);
  EXPECT_TRUE(version.WaitForOut("stepscope-agent "));
}

}  // namespace
}  // namespace stepscope
