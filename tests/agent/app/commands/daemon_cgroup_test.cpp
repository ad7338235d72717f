// The control groups of jobs on a node with one agent for all.

#include <unistd.h>

#include "core/base/text.h"
#include "tests/agent/app/commands/daemon_fixture.h"

namespace stepscope {
namespace {

using test::AgentProcess;
using test::DaemonTest;
using test::Training;

TEST_F(DaemonTest, ReadsTheControlGroupOfTheJobAndNotItsOwn) {
  const auto write = [&](std::string_view process, std::string_view group, int memory) {
    folder.Write(Format("/proc/{}/cgroup", process), Format("0::/{}\n", group));
    folder.Write(Format("/sys/fs/cgroup/{}/memory.current", group), Format("{}\n", memory));
  };
  write("self", "agent", 111);
  write(Format("{}", getpid()), "job", 222);
  AgentProcess agent(Daemon(service.url(), {"--root", folder.path()}));
  ASSERT_TRUE(IsUp(agent));
  Training bert(socket(), "bert");
  EXPECT_TRUE(Eventually([&] { return Values("bert", "cgroup_memory_bytes").contains(222); }));
  EXPECT_FALSE(Values("bert", "cgroup_memory_bytes").contains(111));
}

}  // namespace
}  // namespace stepscope
