// Several agents that a launcher started on one node, for the ranks of one job.

#include <gtest/gtest.h>

#include <cstdlib>

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

struct FirstAgent : testing::Test {
  std::unique_ptr<AgentProcess> Rank(int local_rank, const std::string& script) {
    setenv("SLURM_LOCALID", std::to_string(local_rank).c_str(), 1);
    auto agent = std::make_unique<AgentProcess>(std::vector<std::string>{
        "run", "--server", service.url(), "--job", "job-1", "--node", "node-1", "--interval",
        "100ms", "--push", "1s", "--socket", socket, "--", "/bin/sh", "-c", script});
    unsetenv("SLURM_LOCALID");
    return agent;
  }
  std::size_t Starts() const { return service.Events(R"("event":"started")").size(); }

  FakeRoot folder;
  std::string socket = folder.path() + "/agent.sock";
  FakeIngest service;
};

TEST_F(FirstAgent, ServesTheOtherRanksOfItsNode) {
  setenv("STEPSCOPE_TOKEN", "secret", 1);
  const auto first = Rank(0, "echo first; sleep 3");
  const auto second =
      Rank(1, "echo $$ $STEPSCOPE_JOB $STEPSCOPE_SOCKET ${STEPSCOPE_TOKEN-none}; exit 4");
  unsetenv("STEPSCOPE_TOKEN");
  EXPECT_EQ(second->Wait(), 4);
  EXPECT_TRUE(second->WaitForOut(Format("{} job-1 {} none\n", second->pid(), socket)))
      << second->out() << "the agent is the command, and keeps its token to itself";
  EXPECT_EQ(first->Wait(), 0);
  EXPECT_EQ(Starts(), 1u) << "the machine is sampled once";
}

TEST_F(FirstAgent, IsWaitedForOnlyAWhile) {
  const auto second = Rank(1, "echo $$; exit 5");
  EXPECT_EQ(second->Wait(), 5);
  EXPECT_FALSE(second->WaitForOut(Format("{}\n", second->pid())));
  EXPECT_TRUE(second->WaitForErr("found no agent of the first one"));
  EXPECT_EQ(Starts(), 1u);
}

TEST_F(FirstAgent, CommandsThatCannotStartEndAsInAShell) {
  const auto first = Rank(0, "echo first; sleep 3");
  ASSERT_TRUE(first->WaitForOut("first"));
  setenv("SLURM_LOCALID", "1", 1);
  AgentProcess second({"run", "--server", service.url(), "--job", "job-1", "--socket", socket, "--",
                       "/nowhere/train"});
  unsetenv("SLURM_LOCALID");
  EXPECT_EQ(second.Wait(), 127);
  EXPECT_TRUE(second.WaitForErr("/nowhere/train"));
}

}  // namespace
}  // namespace stepscope
