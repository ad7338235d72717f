// The whole program, a service that asks for a window, and a training with the real package.

#include <gmock/gmock.h>

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

constexpr char kTraining[] =
    "import stepscope, time\n"
    "while True:\n"
    "    stepscope.step()\n"
    "    time.sleep(0.02)\n";

struct RunAskTest : testing::Test {
  std::vector<std::string> Training(const std::string& allow) const {
    const std::string socket = folder.path() + "/agent.sock";
    return {"run",         "--server",
            service.url(), "--job",
            "job-1",       "--push",
            "1s",          "--socket",
            socket,        "--allow",
            allow,         "--",
            "env",         Format("PYTHONPATH={}/python", STEPSCOPE_SOURCE_DIR),
            "python3",     "-c",
            kTraining};
  }
  // Asks once the training is connected.
  void AskForWindow() {
    EXPECT_TRUE(Eventually([&] { return !service.Events(R"("event":"rank")").empty(); }));
    service.Ask({"window-1", "window", 0, 1000, 5});
  }
  // The reason in the agent's answer.
  std::string Reason() const {
    const auto answers = service.Events(R"("event":"answered")");
    return answers.empty() ? "" : ParseJson(answers[0])->value("reason", "");
  }
  bool Answered() const { return !service.Events(R"("event":"answered")").empty(); }

  test::FakeRoot folder;
  test::FakeIngest service;
};

TEST_F(RunAskTest, ATrainingRefusesAWindowWithItsReason) {
  AgentProcess agent(Training("interval,window"));
  AskForWindow();
  const std::string refusal =
      "refused: operators are recorded where the hooks of PyTorch are, and this process has none "
      "(window 5 steps from step 1000)";
  EXPECT_TRUE(Eventually([&] { return !service.Events(refusal).empty(); }));
  EXPECT_EQ(Reason(), "");
  EXPECT_EQ(service.Events(R"("event":"answered")").size(), 1u) << "an id is answered once";
  agent.Signal(SIGTERM);
  agent.Wait();
}

TEST_F(RunAskTest, WhatIsNotAllowedReachesNoTraining) {
  AgentProcess agent(Training("interval"));
  AskForWindow();
  EXPECT_TRUE(Eventually([&] { return Answered(); }));
  EXPECT_THAT(Reason(), HasSubstr("without --allow window"));
  agent.Signal(SIGTERM);
  agent.Wait();
  EXPECT_TRUE(service.Events("operators are recorded where").empty());
}

}  // namespace
}  // namespace stepscope
