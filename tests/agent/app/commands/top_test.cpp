// The whole program in a terminal of its own, and without one.

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <cstdlib>

#include "agent/app/job/live_socket.h"
#include "agent/top/jobs_text.h"
#include "tests/agent/marks/lingering_socket.h"
#include "tests/support/agent_process.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_ingest.h"
#include "tests/support/fake_root.h"
#include "tests/support/mark_writer.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using test::FakeIngest;
using test::FakeRoot;
using testing::HasSubstr;
using testing::Not;

constexpr const char* kEnter = "\x1b[?1049h";
constexpr const char* kLeave = "\x1b[?25h\x1b[?1049l";

struct TopTest : testing::Test {
  TopTest() {
    setenv("TERM", "xterm", 1);
    unsetenv("NO_COLOR");
  }
  std::vector<std::string> Top(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {
        "top", "--socket", folder.path() + "/agent.sock", "--node", "node-1", "--every", "100ms"};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }
  std::unique_ptr<LiveSocket> Agent(const std::string& text) const {
    auto socket = LiveSocket::Start(folder.path() + "/agent.sock.top", {}, [text] { return text; });
    EXPECT_TRUE(socket.ok());
    return std::move(*socket);
  }

  FakeRoot folder;
};

TEST_F(TopTest, WithoutATerminalPrintsOnePicture) {
  AgentProcess top(Top());
  EXPECT_EQ(top.Wait(), 0);
  top.WaitForEnd();

  EXPECT_THAT(top.out(), HasSubstr("node-1  20"));
  EXPECT_THAT(top.out(), HasSubstr("memory  ["));
  EXPECT_THAT(top.out(), HasSubstr("No agent on this machine answers"));
  EXPECT_THAT(top.out(), Not(HasSubstr("\x1b")));
}

TEST_F(TopTest, ShowsTheRanksOfADaemon) {
  FakeIngest service;
  AgentProcess daemon({"daemon", "--server", service.url(), "--push", "1s", "--socket",
                       folder.path() + "/agent.sock"});
  ASSERT_TRUE(daemon.WaitForErr("are heard at"));
  testing_support::RingWriter ring;
  testing_support::FakeProcess process(folder.path() + "/agent.sock");
  MarkHello hello;
  hello.job = "bert";
  hello.rank = 3;
  process.Send(hello, ring.memory.get());
  AgentProcess top(Top(), 24, 80);
  EXPECT_TRUE(top.WaitForOut("job bert  1 ranks"));
  ring.Step(41, 0ms, 20ms);
  EXPECT_TRUE(top.WaitForOut("41   20.0 ms"));
  top.Type("q");
  EXPECT_EQ(top.Wait(), 0);
}

TEST_F(TopTest, GivesTheTerminalBackHoweverItEnds) {
  for (const int signal : {0, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGABRT}) {
    AgentProcess top(Top(), 24, 80);
    ASSERT_TRUE(top.WaitForOut(kEnter));
    ASSERT_TRUE(top.WaitForOut("memory  ["));
    if (signal == 0) top.Type("q");
    if (signal != 0) top.Signal(signal);
    const bool crash = signal == SIGSEGV || signal == SIGABRT;
    EXPECT_EQ(top.Wait(), crash ? -signal : 0);
    EXPECT_TRUE(top.WaitForOut(kLeave)) << signal;
  }
}

TEST_F(TopTest, DrawsAnewWhenTheSizeChanges) {
  AgentProcess top(Top({"--every", "60s"}), 24, 80);
  ASSERT_TRUE(top.WaitForOut("memory  ["));
  top.Resize(3, 20);
  EXPECT_TRUE(top.WaitForOut("node-1  20"));
  top.Type("q");
  EXPECT_EQ(top.Wait(), 0);
}

TEST_F(TopTest, IsWithoutColourWhereNobodyWantsIt) {
  setenv("NO_COLOR", "1", 1);
  AgentProcess top(Top(), 24, 80);
  unsetenv("NO_COLOR");
  ASSERT_TRUE(top.WaitForOut("memory  ["));
  top.Type("q");
  top.Wait();
  EXPECT_THAT(top.out(), Not(HasSubstr("\x1b[3")));
}

TEST_F(TopTest, AnAgentThatLiesDoesNoHarm) {
  for (const std::string& said :
       {std::string("x"), std::string(100'000, '['), std::string("{\"version\":1,\"jobs\":[{}]}"),
        JobsText({TopJob{.job = "\x1b]0;owned\x07", .ranks = {}}})}) {
    const auto agent = Agent(said);
    AgentProcess top(Top({"--once"}));
    EXPECT_EQ(top.Wait(), 0);
    top.WaitForEnd();
    EXPECT_THAT(top.out(), Not(HasSubstr("\x1b")));
    EXPECT_THAT(top.out(), HasSubstr("memory"));
  }
}

TEST_F(TopTest, AClientThatPassesASlowSocketHoldsNoOtherUp) {
  const std::string path = folder.path() + "/agent.sock.top";
  auto agent = Agent("{}");
  const auto begin = std::chrono::steady_clock::now();
  testing_support::LingeringSocket slow;
  testing_support::FakeProcess hostile(path);
  hostile.Send(MarkHello{}, slow.near.get());
  slow.CloseHere();
  EXPECT_TRUE(Eventually([&] { return AskAgent(path).ok(); }));
  agent.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
}

TEST_F(TopTest, AnAgentThatSaysNothingIsNotWaitedFor) {
  const auto listener = ListenForMarks(folder.path() + "/agent.sock.top", {});
  ASSERT_TRUE(listener.ok());
  AgentProcess top(Top({"--once"}));
  EXPECT_EQ(top.Wait(), 0);
}

}  // namespace
}  // namespace stepscope
