// The whole program with processes that register, on a service over real HTTP.

#include <gmock/gmock.h>
#include <pwd.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>

#include "core/base/text.h"
#include "tests/agent/app/commands/daemon_fixture.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using test::DaemonTest;
using test::ScriptedServer;
using test::Training;
using testing::HasSubstr;

TEST_F(DaemonTest, ServesTwoJobsAtOnce) {
  AgentProcess agent(Daemon(service.url()));
  ASSERT_TRUE(IsUp(agent));
  Training bert(socket(), "bert"), gpt(socket(), "gpt", 3);
  EXPECT_EQ(bert.answer.refused, 0) << bert.answer.detail;
  bert.Steps(5);
  gpt.Steps(8);

  EXPECT_TRUE(Eventually([&] { return Rows("bert", FrameKind::kSteps) == 5; }));
  EXPECT_TRUE(Eventually([&] { return Rows("gpt", FrameKind::kSteps) == 8; }));
  EXPECT_TRUE(Eventually([&] { return Rows("gpt", FrameKind::kTicks) > 3; }));
  EXPECT_EQ(Events("gpt", R"("rank")").at(0)["rank"], 3);
  EXPECT_EQ(Events("bert", R"("started")").size(), 1u);
  EXPECT_EQ(service.frames()[0].head.node, "node-1");
}

TEST_F(DaemonTest, ProfilesAProcessThatDoesNotRegister) {
  setenv("STEPSCOPE_JOB", "quiet", 1);
  const std::string seconds = Format("300.{}", getpid());  // differs in another run of the tests
  AgentProcess agent(Daemon(service.url(), {"--match", Format("sleep 3\\d\\d\\.{}$", getpid())}));
  const pid_t training = fork();
  if (training == 0) {
    execlp("sleep", "sleep", seconds.c_str(), nullptr);
    _exit(126);
  }
  unsetenv("STEPSCOPE_JOB");
  EXPECT_TRUE(Eventually([&] { return Rows("quiet", FrameKind::kTicks) > 3; }));
  EXPECT_EQ(Events("quiet", R"("started")").at(0)["command"][0], "sleep");
  kill(training, SIGKILL);
  waitpid(training, nullptr, 0);
  EXPECT_TRUE(Eventually([&] { return Events("quiet", R"("event":"ended")").size() == 1; }));
}

TEST_F(DaemonTest, SamplesNothingWithoutAJob) {
  AgentProcess agent(Daemon(service.url()));
  ASSERT_TRUE(IsUp(agent));
  agent.Signal(SIGTERM);
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_TRUE(service.frames().empty());
}

TEST_F(DaemonTest, EndsAJobWhoseLastProcessIsGone) {
  AgentProcess agent(Daemon(service.url()));
  ASSERT_TRUE(IsUp(agent));
  Training first(socket(), "bert", 0), second(socket(), "bert", 1);
  first.Steps(2);
  first.Bye();
  second.Steps(3);
  second.Bye();

  ASSERT_TRUE(Eventually([&] { return !Events("bert", R"("ended",)").empty(); }));
  const Json ended = Events("bert", R"("ended",)").at(0);
  EXPECT_TRUE(ended["exit_code"].is_null());
  EXPECT_EQ(Events("bert", "rank_ended").size(), 2u);
  EXPECT_EQ(Rows("bert", FrameKind::kSteps), 5u);
}

TEST_F(DaemonTest, ARankThatComesBackInTimeGoesOn) {
  AgentProcess agent(Daemon(service.url(), {"--end-after", "1h"}));
  ASSERT_TRUE(IsUp(agent));
  {
    Training killed(socket(), "bert");
    killed.Steps(2);
  }
  ASSERT_TRUE(Eventually([&] { return Events("bert", "rank_ended").size() == 1; }));
  Training again(socket(), "bert");
  again.Steps(4);

  EXPECT_TRUE(Eventually([&] { return Rows("bert", FrameKind::kSteps) == 6; }));
  // The facts of its start may be told again, when they are known better.
  const auto started = Events("bert", R"("started")");
  EXPECT_EQ(started.back()["at_us"], started.front()["at_us"]);
  EXPECT_TRUE(Events("bert", R"("ended",)").empty());
}

TEST_F(DaemonTest, LeavesJobsThatGoOnOpenWhenItEnds) {
  std::unique_ptr<Training> training;
  {
    AgentProcess agent(Daemon(service.url()));
    ASSERT_TRUE(IsUp(agent));
    training = std::make_unique<Training>(socket(), "bert");
    training->Steps(3);
    agent.Signal(SIGTERM);
    EXPECT_EQ(agent.Wait(), 0);
  }
  training.reset();

  EXPECT_EQ(Rows("bert", FrameKind::kSteps), 3u);
  EXPECT_TRUE(Events("bert", "ended").empty());
}

TEST_F(DaemonTest, ASecondDaemonTakesOverFromOneThatWasKilled) {
  {
    AgentProcess agent(Daemon(service.url()));
    ASSERT_TRUE(IsUp(agent));
    agent.Signal(SIGKILL);
    agent.Wait();
  }
  AgentProcess agent(Daemon(service.url()));
  ASSERT_TRUE(IsUp(agent));
  Training training(socket(), "bert");
  EXPECT_EQ(training.answer.refused, 0);
}

TEST_F(DaemonTest, DeliversWhatOneThatWasKilledLeft) {
  service.Demand("a token that the daemon does not have");
  {
    AgentProcess agent(Daemon(service.url(), {"--spool", spool()}));
    ASSERT_TRUE(IsUp(agent));
    Training training(socket(), "bert");
    training.Steps(5);
    ASSERT_TRUE(Eventually([&] { return Spools(); }));
    agent.Signal(SIGKILL);
    agent.Wait();
  }
  EXPECT_TRUE(service.frames().empty());
  service.Demand("");
  AgentProcess agent(Daemon(service.url(), {"--spool", spool()}));

  EXPECT_TRUE(Eventually([&] { return Rows("bert", FrameKind::kSteps) == 5; }));
  EXPECT_GT(Rows("bert", FrameKind::kTicks), 30u);
  EXPECT_TRUE(Eventually([&] { return std::filesystem::is_empty(spool()); }));
}

TEST_F(DaemonTest, LeavesToTheSpoolWhatItCannotDeliver) {
  service.Demand("a token that the daemon does not have");
  {
    AgentProcess agent(Daemon(service.url(), {"--spool", spool()}));
    ASSERT_TRUE(IsUp(agent));
    Training training(socket(), "bert");
    training.Steps(5);
    ASSERT_TRUE(agent.WaitForErr("does not take samples"));
    agent.Signal(SIGTERM);
    EXPECT_EQ(agent.Wait(), 0);
    EXPECT_TRUE(agent.WaitForErr("an agent on this node delivers it"));
  }
  service.Demand("");
  AgentProcess agent(Daemon(service.url(), {"--spool", spool()}));

  EXPECT_TRUE(Eventually([&] { return Rows("bert", FrameKind::kSteps) == 5; }));
}

TEST_F(DaemonTest, TwoDaemonsAreOneTooMany) {
  AgentProcess first(Daemon(service.url()));
  ASSERT_TRUE(IsUp(first));
  AgentProcess second(Daemon(service.url()));
  EXPECT_EQ(second.Wait(), 1);
  EXPECT_TRUE(second.WaitForErr("another agent listens there"));
}

TEST_F(DaemonTest, EndsInTimeWithoutAService) {
  const std::string nobody = ScriptedServer([](test::Peer&) {}).url();
  AgentProcess agent(Daemon(nobody));
  ASSERT_TRUE(IsUp(agent));
  std::vector<std::unique_ptr<Training>> trainings;
  for (int i = 0; i < 8; ++i) {
    trainings.push_back(std::make_unique<Training>(socket(), Format("job-{}", i)));
  }
  ASSERT_TRUE(agent.WaitForErr("job job-7 of user"));
  const auto begin = std::chrono::steady_clock::now();
  agent.Signal(SIGTERM);

  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 10s);
  EXPECT_TRUE(agent.WaitForErr("job job-3: not delivered"));
}

TEST_F(DaemonTest, TellsAProcessWithoutAJobWhy) {
  AgentProcess agent(Daemon(service.url()));
  ASSERT_TRUE(IsUp(agent));
  Training nameless(socket(), ""), bad(socket(), "../../etc");

  EXPECT_THAT(nameless.answer.detail, HasSubstr("set STEPSCOPE_JOB"));
  EXPECT_EQ(bad.answer.refused, 1);
}

TEST_F(DaemonTest, SaysWhenItIsReady) {
  const std::string path = folder.path() + "/notify";
  const Descriptor notify(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  ASSERT_EQ(bind(notify.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
  setenv("NOTIFY_SOCKET", path.c_str(), 1);
  AgentProcess agent(Daemon(service.url()));
  unsetenv("NOTIFY_SOCKET");
  char text[64] = {};

  EXPECT_TRUE(Eventually([&] { return recv(notify.get(), text, sizeof text, MSG_DONTWAIT) == 7; }));
  EXPECT_STREQ(text, "READY=1");
}

TEST_F(DaemonTest, TiesNamesOfJobsToUsers) {
  const passwd* user = getpwuid(geteuid());
  if (user == nullptr) GTEST_SKIP() << "this user has no name";
  AgentProcess agent(Daemon(service.url(), {"--job-names", "{user}-*"}));
  ASSERT_TRUE(IsUp(agent));
  Training mine(socket(), std::string(user->pw_name) + "-gpt");
  EXPECT_EQ(mine.answer.detail, "");
  Training another(socket(), "speech-s1");
  EXPECT_THAT(another.answer.detail, HasSubstr("job speech-s1 is no name for user"));
  EXPECT_TRUE(agent.WaitForErr("is not heard: job speech-s1 is no name for user"));
  AgentProcess wrong(Daemon(service.url(), {"--job-names", "{name}-*"}));
  EXPECT_EQ(wrong.Wait(), 2);
  EXPECT_TRUE(wrong.WaitForErr("other words than user, group, uid"));
}

TEST_F(DaemonTest, ServesWhomItIsTold) {
  AgentProcess agent(Daemon(service.url(), {"--allow-users", "all"}));
  ASSERT_TRUE(IsUp(agent));
  struct stat file {};
  stat(socket().c_str(), &file);
  EXPECT_EQ(file.st_mode & 0777, 0666u);
  AgentProcess wrong(Daemon(service.url(), {"--allow-users", "@no-such-group"}));
  EXPECT_EQ(wrong.Wait(), 2);
  EXPECT_TRUE(wrong.WaitForErr("there is no group 'no-such-group'"));
}

}  // namespace
}  // namespace stepscope
