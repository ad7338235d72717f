#include "agent/host/process_limits.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

struct ProcessLimitsTest : testing::Test {
  ProcessLimitsTest() { root.Write("/sys/devices/system/cpu/online", "0-7\n"); }

  void Thread(int pid, int thread, const std::string& cores) const {
    root.Write(Format("/proc/{}/task/{}/status", pid, thread),
               Format("Name:\tpython\nCpus_allowed:\tff\nCpus_allowed_list:\t{}\n", cores));
  }
  ProcessLimits Read(const std::vector<std::int64_t>& pids = {7}) const {
    return ReadProcessLimits(root.path(), pids, CgroupTop::kCounts);
  }

  test::FakeRoot root;
};

TEST_F(ProcessLimitsTest, CountsTheCoresThatAnyThreadMayUse) {
  Thread(7, 7, "0");
  Thread(7, 8, "0-1,4");
  Thread(9, 9, "6");
  EXPECT_EQ(Read().cores, 3u);
  EXPECT_EQ(Read({7, 9}).cores, 4u);
  EXPECT_EQ(Read().cpu_quota, std::nullopt);
  EXPECT_EQ(Read().memory_bytes, std::nullopt);
}

TEST_F(ProcessLimitsTest, LeavesOutCoresThatTheMachineDoesNotHave) {
  Thread(7, 7, "0-127");
  EXPECT_EQ(Read().cores, 8u);
}

TEST_F(ProcessLimitsTest, TheSmallestQuotaOfAllGroupsCountsInWholeCores) {
  Thread(7, 7, "0-7");
  root.Write("/proc/7/cgroup", "0::/pod/box\n");
  root.Write("/sys/fs/cgroup/pod/box/cpu.max", "max 100000\n");
  root.Write("/sys/fs/cgroup/pod/cpu.max", "250000 100000\n");
  root.Write("/sys/fs/cgroup/pod/box/memory.max", "4000\n");
  root.Write("/sys/fs/cgroup/pod/memory.max", "max\n");
  EXPECT_EQ(Read().cores, 3u);
  EXPECT_EQ(Read().cpu_quota, 2.5);
  EXPECT_EQ(Read().memory_bytes, 4000u);
}

TEST_F(ProcessLimitsTest, ReadsTheTwoFilesOfVersion1) {
  Thread(7, 7, "0-7");
  root.Write("/proc/7/cgroup", "4:memory:/box\n3:cpu,cpuacct:/box\n");
  const std::string cpu = "/sys/fs/cgroup/cpu/";
  root.Write(cpu + "cpu.cfs_quota_us", "-1\n");
  root.Write(cpu + "box/cpu.cfs_quota_us", "25000\n");
  root.Write(cpu + "box/cpu.cfs_period_us", "50000\n");
  root.Write("/sys/fs/cgroup/memory/box/memory.stat",
             "rss 1\nhierarchical_memory_limit 9223372036854771712\n");
  EXPECT_EQ(Read().cores, 1u);
  EXPECT_EQ(Read().cpu_quota, 0.5);
  EXPECT_EQ(Read().memory_bytes, std::nullopt);
}

TEST_F(ProcessLimitsTest, AreNotKnownOfAProcessThatIsGoneOrStrange) {
  EXPECT_EQ(Read(), ProcessLimits());
  Thread(7, 7, "x,0-99999999999");
  root.Write("/proc/7/cgroup", "0::/box\n");
  root.Write("/sys/fs/cgroup/box/cpu.max", "1 0\n");
  EXPECT_EQ(Read(), ProcessLimits());
  EXPECT_EQ(Read({}), ProcessLimits());
}

TEST(ProcessLimits, OfThisProcessAreKnown) {
  EXPECT_GE(ReadProcessLimits("", {getpid()}, CgroupTop::kCounts).cores, 1u);
}

}  // namespace
}  // namespace stepscope
