#include "agent/host/cgroup.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeRoot;

struct Bench {
  explicit Bench(const FakeRoot& root) {
    auto made = MakeCgroupCollector(root.path(), row);
    EXPECT_TRUE(made.ok()) << made.error().message;
    if (made) collector = std::move(*made);
  }
  void At(Duration since_start) {
    row.Clear();
    EXPECT_TRUE(collector->Collect(SteadyTime(1h) + since_start, row));
  }
  double operator()(std::string_view metric) const { return row.At(metric); }

  TickRow row;
  std::unique_ptr<Collector> collector;
};

void WriteVersion2(const FakeRoot& root, const std::string& folder, int cpu_us, int periods,
                   int throttled) {
  root.Write(folder + "cpu.stat",
             Format("usage_usec {}\nuser_usec 1\nsystem_usec 1\nnr_periods {}\nnr_throttled {}\n",
                    cpu_us, periods, throttled));
  root.Write(folder + "memory.current", "1048576\n");
  root.Write(folder + "memory.max", "4194304\n");
  root.Write(folder + "memory.events", "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\n");
}

TEST(Cgroup, ReadsVersion2) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/system.slice/job.scope\n");
  const std::string folder = "/sys/fs/cgroup/system.slice/job.scope/";
  WriteVersion2(root, folder, 0, 0, 0);
  Bench group(root);
  group.At(0s);
  EXPECT_TRUE(std::isnan(group("cgroup_cpu_percent")));
  WriteVersion2(root, folder, 5'000'000, 10, 4);
  group.At(1s);
  EXPECT_TRUE(std::isnan(group("cgroup_memory_bytes")));  // every 2 s
  group.At(2s);
  EXPECT_DOUBLE_EQ(group("cgroup_cpu_percent"), 250);
  EXPECT_DOUBLE_EQ(group("cgroup_throttled_percent"), 40);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_bytes"), 1'048'576);
  EXPECT_TRUE(std::isnan(group("cgroup_oom_kills")));  // every 10 s
  group.At(10s);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_limit_bytes"), 4'194'304);
  EXPECT_DOUBLE_EQ(group("cgroup_oom_kills"), 2);
}

// What a group of version 2 holds, by its memory.stat.
double HeldBy(const char* memory_stat) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/job\n");
  WriteVersion2(root, "/sys/fs/cgroup/job/", 0, 0, 0);
  root.Write("/sys/fs/cgroup/job/memory.stat", memory_stat);
  Bench group(root);
  group.At(0s);
  return group("cgroup_memory_anon_bytes");
}

TEST(Cgroup, TellsTheMemoryOfProcessesFromCachedFiles) {
  EXPECT_DOUBLE_EQ(HeldBy("anon 4096\nfile 1044480\nkernel 7\n"), 4096);
}

// The kernel counts /dev/shm with the cached files, though it cannot drop it: the batches that
// loader workers pass on.
TEST(Cgroup, CountsSharedMemoryAsHeld) {
  EXPECT_DOUBLE_EQ(HeldBy("anon 4096\nfile 1044480\nshmem 1000\n"), 5096);
}

TEST(Cgroup, TellsTheMemoryOfProcessesFromCachedFilesInVersion1) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "5:memory:/job\n");
  const std::string folder = "/sys/fs/cgroup/memory/job/";
  root.Write(folder + "memory.usage_in_bytes", "8192\n");
  root.Write(folder + "memory.stat",
             "rss 1\nhierarchical_memory_limit 9000\ntotal_rss 4096\ntotal_shmem 70\n");
  Bench group(root);
  group.At(0s);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_anon_bytes"), 4166);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_limit_bytes"), 9000);
}

// The top group of the kernel has no memory.current, and the memory of the whole machine.
TEST(Cgroup, HasNoMemoryOfTheWholeMachine) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/\n");
  root.Write("/sys/fs/cgroup/cpu.stat", "usage_usec 1\n");
  root.Write("/sys/fs/cgroup/memory.stat", "anon 4096\n");
  Bench group(root);
  group.At(0s);
  EXPECT_TRUE(std::isnan(group("cgroup_memory_anon_bytes")));
}

TEST(Cgroup, SumsUpWhatAllDevicesReadAndWroteInVersion2) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/job\n");
  root.Write("/sys/fs/cgroup/job/io.stat", "");  // while nothing was read or written
  Bench group(root);
  group.At(0s);
  root.Write("/sys/fs/cgroup/job/io.stat",
             "8:0 rbytes=4096 wbytes=1000 rios=1 wios=1 dbytes=0 dios=0\n259:1 \n"
             "259:0 rbytes=8192 wbytes=x rios=2 wios=0 dbytes=0 dios=0\n");
  group.At(2s);
  EXPECT_DOUBLE_EQ(group("cgroup_read_bytes_per_second"), 6144);
  EXPECT_DOUBLE_EQ(group("cgroup_write_bytes_per_second"), 500);
}

TEST(Cgroup, SumsUpWhatAllDevicesReadAndWroteInVersion1) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "5:blkio:/job\n");
  const auto write = [&](int read, int written) {
    root.Write("/sys/fs/cgroup/blkio/job/blkio.throttle.io_service_bytes",
               Format("8:0 Read {0}\n8:0 Write {1}\n8:0 Total 9\n8:16 Read {0}\nTotal 9\n", read,
                      written));
  };
  write(0, 0);
  Bench group(root);
  group.At(0s);
  write(5000, 0);
  group.At(2s);
  EXPECT_DOUBLE_EQ(group("cgroup_read_bytes_per_second"), 5000);
  EXPECT_TRUE(std::isnan(group("cgroup_write_bytes_per_second")));  // the group never wrote
}

TEST(Cgroup, TakesNothingFromTheTopForAGroupOfItsOwn) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/job\n");
  WriteVersion2(root, "/sys/fs/cgroup/job/", 0, 0, 0);
  root.Write("/sys/fs/cgroup/io.stat", "8:0 rbytes=1 wbytes=1\n");  // the whole node's
  Bench group(root);
  group.At(0s);
  root.Write("/sys/fs/cgroup/io.stat", "8:0 rbytes=9 wbytes=9\n");
  group.At(2s);
  EXPECT_TRUE(std::isnan(group("cgroup_read_bytes_per_second")));
}

// The figures of a Slurm task, and the limits, are in the group of the job.
TEST(Cgroup, OfATaskOfSlurmIsThatOfTheJob) {
  FakeRoot root;
  const std::string job = "/sys/fs/cgroup/system.slice/slurmstepd.scope/job_4711/";
  root.Write("/proc/self/cgroup",
             "0::/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0\n");
  WriteVersion2(root, job + "step_0/user/task_0/", 0, 0, 0);
  root.Write(job + "step_0/user/task_0/memory.max", "max\n");
  root.Write(job + "step_0/memory.max", "3000\n");
  WriteVersion2(root, job, 0, 0, 0);
  root.Write(job + "memory.current", "2048\n");
  root.Write(job + "memory.max", "4000\n");
  Bench group(root);
  group.At(0s);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_bytes"), 2048);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_limit_bytes"), 3000);
  WriteVersion2(root, job, 4'000'000, 0, 0);
  root.Write(job + "memory.max", "2500\n");
  group.At(10s);
  EXPECT_DOUBLE_EQ(group("cgroup_cpu_percent"), 40);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_limit_bytes"), 2500);
}

TEST(Cgroup, OfATaskOfSlurmIsThatOfTheJobInVersion1) {
  FakeRoot root;
  const std::string job = "/sys/fs/cgroup/memory/slurm/uid_1000/job_12/";
  root.Write("/proc/self/cgroup", "4:memory:/slurm/uid_1000/job_12/step_0/task_0\n");
  root.Write(job + "memory.usage_in_bytes", "5000\n");
  root.Write(job + "step_0/task_0/memory.usage_in_bytes", "100\n");
  root.Write(job + "step_0/task_0/memory.limit_in_bytes", "9223372036854771712\n");
  root.Write(job + "step_0/task_0/memory.stat",
             "cache 0\nhierarchical_memory_limit 8000\ntotal_cache 0\n");
  Bench group(root);
  group.At(0s);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_bytes"), 5000);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_limit_bytes"), 8000);
}

TEST(Cgroup, ReadsItsOwnGroupWhereTheJobsHasNoFiles) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/job_1/step_0\n");
  WriteVersion2(root, "/sys/fs/cgroup/job_1/step_0/", 0, 0, 0);
  Bench group(root);
  group.At(0s);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_bytes"), 1'048'576);
}

TEST(Cgroup, OnlyNumbersNameAJobOfSlurm) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/job_of_mine/part\n");
  WriteVersion2(root, "/sys/fs/cgroup/job_of_mine/part/", 0, 0, 0);
  WriteVersion2(root, "/sys/fs/cgroup/job_of_mine/", 0, 0, 0);
  root.Write("/sys/fs/cgroup/job_of_mine/memory.current", "7\n");
  Bench group(root);
  group.At(0s);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_bytes"), 1'048'576);
}

struct JobCgroupTest : testing::Test {
  void Write(int pid, const std::string& group, const std::string& memory) const {
    root.Write(Format("/proc/{}/cgroup", pid), "0::" + group + "\n");
    root.Write("/sys/fs/cgroup" + group + "/memory.current", memory + "\n");
  }
  double MemoryAt(Duration since_start) {
    row.Clear();
    EXPECT_TRUE(collector->Collect(SteadyTime(1h) + since_start, row));
    return row.At("cgroup_memory_bytes");
  }

  FakeRoot root;
  TickRow row;
  std::vector<TrainingProcess> training;
  std::unique_ptr<Collector> collector =
      MakeJobCgroupCollector(root.path(), [this](auto& now) { now = training; });
};

TEST_F(JobCgroupTest, IsThatOfTheFirstProcessAsLongAsItIsThere) {
  Write(7, "/job_1/step_0", "100");
  Write(8, "/job_1/step_1", "200");
  EXPECT_TRUE(std::isnan(MemoryAt(0s)));  // no process has registered
  training = {{"rank0", 7}, {"rank1", 8}};
  EXPECT_DOUBLE_EQ(MemoryAt(2s), 100);
  training = {{"rank1", 8}, {"rank0", 7}};
  EXPECT_DOUBLE_EQ(MemoryAt(4s), 100);
  training = {{"rank1", 8}};
  EXPECT_DOUBLE_EQ(MemoryAt(6s), 200);
  EXPECT_EQ(row.size(), 1u);
}

TEST_F(JobCgroupTest, GivesNoRateAcrossTwoGroups) {
  WriteVersion2(root, "/sys/fs/cgroup/a/", 0, 0, 0);
  WriteVersion2(root, "/sys/fs/cgroup/b/", 2'000'000, 0, 0);
  Write(7, "/a", "1");
  Write(8, "/b", "1");
  training = {{"rank0", 7}};
  MemoryAt(0s);
  training = {{"rank0", 8}};
  MemoryAt(2s);
  EXPECT_TRUE(std::isnan(row.At("cgroup_cpu_percent")));
  WriteVersion2(root, "/sys/fs/cgroup/b/", 3'000'000, 0, 0);
  MemoryAt(4s);
  EXPECT_DOUBLE_EQ(row.At("cgroup_cpu_percent"), 50);
}

TEST_F(JobCgroupTest, SaysWhyThereIsNone) {
  EXPECT_EQ(collector->Shortfall(), "");
  training = {{"rank0", 7}};
  MemoryAt(0s);
  EXPECT_EQ(collector->Shortfall(), "/proc/7/cgroup: No such file or directory");
  // The whole node's group, and a path that leads out of the part that the agent sees.
  Write(8, "/../../job", "1");
  root.Write("/sys/fs/cgroup/memory.current", "1000\n");
  root.Write("/sys/job/memory.current", "1000\n");
  training = {{"rank0", 8}};
  EXPECT_TRUE(std::isnan(MemoryAt(2s)));
  EXPECT_EQ(collector->Shortfall(), "/sys/fs/cgroup: not the group of /proc/8/cgroup");
  Write(9, "/job", "50");
  training = {{"rank0", 9}};
  EXPECT_DOUBLE_EQ(MemoryAt(4s), 50);
  EXPECT_EQ(collector->Shortfall(), "");
}

TEST(Cgroup, IsNeverThrottledInMoreThanAllPeriods) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/\n");
  WriteVersion2(root, "/sys/fs/cgroup/", 0, 0, 0);
  Bench group(root);
  group.At(0s);
  WriteVersion2(root, "/sys/fs/cgroup/", 0, 5, 6);  // one ended between the two readings
  group.At(2s);
  EXPECT_DOUBLE_EQ(group("cgroup_throttled_percent"), 100);
}

// Kubernetes gives the pod a quota and the container a larger one or none.
TEST(Cgroup, IsThrottledWhereTheSmallestQuotaIs) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/pod/container\n");
  const std::string pod = "/sys/fs/cgroup/pod/", container = pod + "container/";
  root.Write(pod + "cpu.max", "50000 100000\n");
  root.Write(container + "cpu.max", "max 100000\n");
  WriteVersion2(root, pod, 0, 0, 0);
  WriteVersion2(root, container, 0, 0, 0);
  Bench group(root);
  group.At(0s);
  WriteVersion2(root, pod, 0, 10, 4);
  WriteVersion2(root, container, 1'000'000, 0, 0);
  group.At(10s);
  EXPECT_DOUBLE_EQ(group("cgroup_throttled_percent"), 40);
  EXPECT_DOUBLE_EQ(group("cgroup_cpu_percent"), 10);  // of its own group
}

TEST(Cgroup, IsThrottledWhereTheSmallestQuotaIsInVersion1) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "3:cpu:/job/step\n");
  const std::string job = "/sys/fs/cgroup/cpu/job/", step = job + "step/";
  const auto write = [&](const std::string& folder, const char* quota, int periods) {
    root.Write(folder + "cpu.cfs_quota_us", quota);
    root.Write(folder + "cpu.cfs_period_us", "100000\n");
    root.Write(folder + "cpu.stat",
               Format("nr_periods {}\nnr_throttled {}\n", periods, periods / 2));
  };
  write(job, "50000\n", 0);
  write(step, "-1\n", 0);
  Bench group(root);
  group.At(0s);
  write(job, "50000\n", 10);
  group.At(10s);
  EXPECT_DOUBLE_EQ(group("cgroup_throttled_percent"), 50);
}

TEST(Cgroup, ReadsVersion1BesideAnEmptyVersion2) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "4:memory:/job\n2:cpu,cpuacct:/job\n0::/\n");
  root.Write("/sys/fs/cgroup/unified/cgroup.procs", "1\n");
  const auto write = [&](std::int64_t cpu_ns, int throttled) {
    // The kernel counts the whole machine's CPU time in the top group of version 2.
    root.Write("/sys/fs/cgroup/unified/cpu.stat", Format("usage_usec {}\n", 7 * cpu_ns / 1000));
    root.Write("/sys/fs/cgroup/cpuacct/job/cpuacct.usage", Format("{}\n", cpu_ns));
    root.Write("/sys/fs/cgroup/cpu/job/cpu.stat",
               Format("nr_periods {}\nnr_throttled {}\nthrottled_time 5\n", throttled, throttled));
  };
  write(0, 0);
  root.Write("/sys/fs/cgroup/memory/job/memory.usage_in_bytes", "2097152\n");
  root.Write("/sys/fs/cgroup/memory/job/memory.limit_in_bytes", "9223372036854771712\n");
  root.Write("/sys/fs/cgroup/memory/job/memory.oom_control",
             "oom_kill_disable 0\nunder_oom 0\noom_kill 1\n");
  Bench group(root);
  group.At(0s);
  write(1'000'000'000, 5);
  group.At(2s);
  EXPECT_DOUBLE_EQ(group("cgroup_cpu_percent"), 50);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_bytes"), 2'097'152);
  EXPECT_DOUBLE_EQ(group("cgroup_throttled_percent"), 100);
  group.At(10s);
  EXPECT_DOUBLE_EQ(group("cgroup_oom_kills"), 1);
  EXPECT_TRUE(std::isnan(group("cgroup_memory_limit_bytes")));  // without a limit
}

TEST(Cgroup, IsTheTopInAContainerThatSeesNothingElse) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/kubepods/pod1/abc\n");
  WriteVersion2(root, "/sys/fs/cgroup/", 0, 0, 0);
  Bench group(root);
  group.At(0s);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_bytes"), 1'048'576);
}

TEST(Cgroup, HasNoThrottlingWithoutAQuotaAndNoLimitWithoutOne) {
  FakeRoot root;
  root.Write("/proc/self/cgroup", "0::/\n");
  WriteVersion2(root, "/sys/fs/cgroup/", 0, 0, 0);
  root.Write("/sys/fs/cgroup/memory.max", "max\n");
  Bench group(root);
  group.At(0s);
  group.At(2s);
  EXPECT_TRUE(std::isnan(group("cgroup_throttled_percent")));
  EXPECT_TRUE(std::isnan(group("cgroup_memory_limit_bytes")));
  root.Write("/sys/fs/cgroup/memory.max", "8192\n");  // a limit that is set later
  group.At(10s);
  EXPECT_DOUBLE_EQ(group("cgroup_memory_limit_bytes"), 8192);
}

TEST(Cgroup, IsAbsentWithAReasonWhereThereIsNone) {
  FakeRoot root;
  TickRow row;
  EXPECT_EQ(MakeCgroupCollector(root.path(), row).error().message,
            "/proc/self/cgroup: No such file or directory");
  root.Write("/proc/self/cgroup", "0::/\n");
  EXPECT_EQ(MakeCgroupCollector(root.path(), row).error().message,
            "/sys/fs/cgroup: no files of this process's control group");
}

TEST(ParseCgroup, FindsTheGroupOfAController) {
  constexpr std::string_view kText = "9:name=systemd:/a\n3:cpu,cpuacct:/b:c\n0::/d\nnonsense\n";
  EXPECT_EQ(ParseCgroup(kText, "cpuacct"), "/b:c");
  EXPECT_EQ(ParseCgroup(kText, ""), "/d");
  EXPECT_EQ(ParseCgroup(kText, "memory"), std::nullopt);
  EXPECT_EQ(ParseCgroup("", ""), std::nullopt);
  EXPECT_EQ(ParseCgroup("0::/\n", ""), "");
}

}  // namespace
}  // namespace stepscope
