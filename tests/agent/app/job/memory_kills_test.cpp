#include "agent/app/job/memory_kills.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

struct MemoryKillsTest : testing::Test {
  MemoryKillsTest() {
    root.Write("/proc/self/cgroup", "0::/pod/box\n");
    root.Write("/sys/fs/cgroup/pod/memory.max", "2147483648\n");
    root.Write("/sys/fs/cgroup/pod/box/memory.max", "max\n");
  }
  MemoryKills Read(int of_group, int of_node) const {
    root.Write("/sys/fs/cgroup/pod/box/memory.events",
               Format("low 0\noom 7\noom_kill {}\n", of_group));
    root.Write("/proc/vmstat", Format("pgfault 5\noom_kill {}\n", of_node));
    return ReadMemoryKills(root.path());
  }

  test::FakeRoot root;
};

TEST_F(MemoryKillsTest, AreSaidWithTheLimitOfTheirGroup) {
  EXPECT_EQ(KilledBetween(Read(1, 4), Read(2, 5)),
            "the kernel killed 1 process of its control group for want of memory; the group's "
            "limit is 2 GiB");
}

TEST_F(MemoryKillsTest, OfAnotherGroupAreTheNodes) {
  EXPECT_EQ(KilledBetween(Read(1, 4), Read(1, 6)),
            "the kernel killed 2 processes of the node for want of memory meanwhile");
}

TEST_F(MemoryKillsTest, ThatNobodyCountsOrThatWereBeforeAreNotSaid) {
  EXPECT_EQ(KilledBetween(Read(3, 4), Read(3, 4)), "");
  EXPECT_EQ(KilledBetween(MemoryKills{}, Read(3, 4)), "");
  test::FakeRoot empty;
  EXPECT_EQ(KilledBetween(Read(3, 4), ReadMemoryKills(empty.path())), "");
}

TEST_F(MemoryKillsTest, AreReadFromVersion1) {
  root.Write("/proc/self/cgroup", "4:memory:/box\n");
  const std::string control = "/sys/fs/cgroup/memory/box/memory.oom_control";
  root.Write(control, "oom_kill_disable 0\nunder_oom 0\noom_kill 2\n");
  const MemoryKills before = ReadMemoryKills(root.path());
  root.Write(control, "oom_kill_disable 0\nunder_oom 0\noom_kill 3\n");
  EXPECT_EQ(KilledBetween(before, ReadMemoryKills(root.path())),
            "the kernel killed 1 process of its control group for want of memory");
}

}  // namespace
}  // namespace stepscope
