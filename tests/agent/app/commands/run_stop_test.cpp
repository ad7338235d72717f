// The whole program, a service that asks it to end its command, and real commands.

#include <gmock/gmock.h>

#include <filesystem>
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
using testing::HasSubstr;

// Also true of a process whose new parent has not asked how it ended.
bool IsGone(pid_t pid) {
  std::ifstream file(Format("/proc/{}/stat", pid));
  std::string text;
  if (!std::getline(file, text)) return true;
  const auto stat = ParseProcessStat(text);
  return stat && HasEnded(*stat);
}

struct RunStopTest : testing::Test {
  std::vector<std::string> Run(const std::string& script, std::vector<std::string> options) const {
    std::vector<std::string> words = {"run",   "--server", service.url(),
                                      "--job", "job-1",    "--push",
                                      "1s",    "--socket", folder.path() + "/agent.sock"};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", script});
    return words;
  }
  void AskToStop() { service.Ask({.id = "stop-1", .kind = "stop"}); }
  // The part of a script that reports that it handles signals by now.
  std::string Ready() const { return ": > " + ready; }
  void AskOnceReady() {
    EXPECT_TRUE(Eventually([&] { return std::filesystem::exists(ready); }));
    AskToStop();
  }
  Json Event(const char* name) const {
    const auto events = service.Events(Format(R"("event":"{}")", name));
    return events.size() == 1 ? *ParseJson(events[0]) : Json(Json::object());
  }

  test::FakeRoot folder;
  test::FakeIngest service;
  const std::string ready = folder.path() + "/ready";
};

TEST_F(RunStopTest, ACommandIsEndedWithSigterm) {
  AskToStop();
  AgentProcess agent(Run("exec sleep 1000", {"--allow", "interval,stop"}));
  EXPECT_EQ(agent.Wait(), -SIGTERM);
  EXPECT_EQ(Event("started")["facts"]["allows"], Json({"interval", "stop"}));
  EXPECT_EQ(Event("answered")["outcome"], "done");
  EXPECT_EQ(Event("ended")["signal"], SIGTERM);
}

TEST_F(RunStopTest, ACommandMaySaveItsWork) {
  const std::string script =
      Format("trap 'echo saved >&2; exit 0' TERM; {}; while :; do sleep 0.1; done", Ready());
  AgentProcess agent(Run(script, {"--allow", "stop"}));
  AskOnceReady();
  EXPECT_EQ(agent.Wait(), 0);
  EXPECT_EQ(Event("ended")["exit_code"], 0);
  EXPECT_THAT(agent.err(), HasSubstr("saved"));
}

TEST_F(RunStopTest, WhatDoesNotEndIsKilledWithAllThatItStarted) {
  const std::string child = folder.path() + "/child";
  const std::string script =
      Format("trap '' TERM; sleep 1000 & echo $! > {}; {}; wait; wait", child, Ready());
  AgentProcess agent(Run(script, {"--allow", "stop", "--grace", "1s"}));
  AskOnceReady();
  EXPECT_EQ(agent.Wait(), -SIGKILL);
  EXPECT_THAT(agent.err(), HasSubstr("2 processes have not ended within 1 s: SIGKILL"));
  pid_t pid = 0;
  ASSERT_TRUE(std::ifstream(child) >> pid);
  EXPECT_TRUE(Eventually([&] { return IsGone(pid); }));
}

TEST_F(RunStopTest, WhatIsNotAllowedIsRefused) {
  AskToStop();
  AgentProcess agent(Run("exec sleep 1000", {}));
  EXPECT_TRUE(Eventually([&] { return !Event("answered").empty(); }));
  EXPECT_EQ(Event("answered")["reason"], "the agent was started without --allow stop");
  EXPECT_EQ(Event("started")["facts"]["allows"], Json({"interval", "spans", "window"}));
  agent.Signal(SIGINT);
  EXPECT_EQ(agent.Wait(), -SIGINT);
}

// The rank stands for one that another agent of this node started for the same job.
TEST_F(RunStopTest, RanksThatItHearsEndWithTheCommand) {
  const std::string training =
      Format("import stepscope, time\nwhile True: stepscope.step(); time.sleep(0.02)");
  const std::string other =
      Format("PYTHONPATH={}/python RANK=1 exec python3 -c '{}'", STEPSCOPE_SOURCE_DIR, training);
  // A shell that ends leaves it behind, so that it is no child of the command.
  AgentProcess agent(Run(Format("({} &) ; exec sleep 1000", other), {"--allow", "stop"}));
  EXPECT_TRUE(Eventually([&] { return !Event("rank").empty(); }));
  AskToStop();
  EXPECT_EQ(agent.Wait(), -SIGTERM);
  EXPECT_FALSE(Event("rank_ended").empty());
}

}  // namespace
}  // namespace stepscope
