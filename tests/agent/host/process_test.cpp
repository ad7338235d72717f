// The processes of ranks, as trees of files and as real processes.

#include "agent/host/process.h"

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <csignal>
#include <ctime>
#include <filesystem>

#include "agent/host/process_text.h"
#include "agent/host/proportional_memory.h"
#include "core/base/text.h"
#include "tests/support/eventually.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using namespace std::string_view_literals;
using test::FakeRoot;

// The files of one process; times in ticks and bytes since its start.
struct Shown {
  int pid = 0, parent = 1;
  std::string name = "python3";
  char state = 'S';
  int ticks = 0, thread_ms = 0, waited_ms = 0, read = 0;
  std::string children{};
  std::string command{"python3\0train.py\0"sv};
};

void Show(const FakeRoot& root, const Shown& shown) {
  const std::string folder = Format("/proc/{}/", shown.pid);
  const std::string stat =
      Format("{} ({}) {} {} 1 1 0 -1 0 9 9 9 9 {} 0 7 7 20 0 3 0 555 4096 99 0\n", shown.pid,
             shown.name, shown.state, shown.parent, shown.ticks);
  root.Write(folder + "stat", stat);
  root.Write(folder + "statm", "900 100 40 1 0 9 0\n");
  root.Write(folder + "io", Format("rchar: 1\nread_bytes: {}\nwrite_bytes: 0\n", shown.read));
  root.Write(folder + "cmdline", shown.command);
  const std::string thread = Format("{}task/{}/", folder, shown.pid);
  root.Write(thread + "stat", stat);
  for (const std::string& of : {folder, thread}) {
    root.Write(of + "schedstat",
               Format("{} {} 7\n", shown.thread_ms * 1'000'000ll, shown.waited_ms * 1'000'000ll));
  }
  root.Write(thread + "children", shown.children);
}

struct Watch {
  explicit Watch(const std::string& root, std::vector<TrainingProcess> listed)
      : training(std::move(listed)),
        collector(MakeProcessCollector(
            root, [this](auto& now) { now = training; },
            [this](SteadyTime, auto& now) { now = on_gpus; })) {}

  void At(Duration since_start) {
    row.Clear();
    EXPECT_TRUE(collector->Collect(SteadyTime{1h} + since_start, row));
  }
  double Of(std::string_view metric, std::string_view device = "rank0") const {
    return row.At(metric, device);
  }

  std::vector<TrainingProcess> training;
  std::vector<GpuProcess> on_gpus;
  TickRow row;
  std::unique_ptr<Collector> collector;
};

TEST(ProcessCollector, AddsUpWhatTheProcessesOfARankHoldOnGpus) {
  const FakeRoot root;
  Show(root, {.pid = 100, .children = "101 "});
  Show(root, {.pid = 101, .parent = 100, .name = "pt_data_worker"});
  Show(root, {.pid = 200});
  Watch watch(root.path(), {{"rank0", 100}, {"rank1", 200}});
  watch.on_gpus = {{100, 5}, {101, 2}, {100, 7}, {300, 99}};  // the first has two GPUs
  watch.At(0s);
  EXPECT_DOUBLE_EQ(watch.Of("process_gpu_memory_bytes"), 14);
  EXPECT_TRUE(std::isnan(watch.Of("process_gpu_memory_bytes", "rank1")));
  watch.on_gpus.clear();
  watch.At(2s);
  EXPECT_TRUE(std::isnan(watch.Of("process_gpu_memory_bytes")));
}

TEST(ProcessCollector, TellsTheTrainingThreadFromAllProcesses) {
  const FakeRoot root;
  Show(root, {.pid = 100, .children = "101 102 "});
  Show(root, {.pid = 101, .parent = 100, .name = "pt_data_worker"});
  Show(root, {.pid = 102, .parent = 100, .command = "nvidia-smi"});
  Watch watch(root.path(), {{"rank0", 100}});
  watch.At(0s);
  EXPECT_EQ(watch.Of("process_loaders"), 1);
  EXPECT_EQ(watch.Of("process_resident_bytes"), 100.0 * static_cast<double>(getpagesize()));
  EXPECT_EQ(watch.Of("process_shared_bytes"), 40.0 * static_cast<double>(getpagesize()));
  Show(root, {.pid = 100,
              .state = 'D',
              .ticks = 100,
              .thread_ms = 400,
              .waited_ms = 50,
              .children = "101 102 "});
  Show(root, {.pid = 101,
              .parent = 100,
              .name = "pt_data_worker",
              .state = 'D',
              .ticks = 60,
              .waited_ms = 200,
              .read = 4000});
  Show(root, {.pid = 102, .parent = 100, .ticks = 40, .read = 1000, .command = "nvidia-smi"});
  watch.At(500ms);
  EXPECT_DOUBLE_EQ(watch.Of("process_thread_cpu_percent"), 80);
  EXPECT_DOUBLE_EQ(watch.Of("process_thread_waiting_percent"), 10);
  EXPECT_TRUE(std::isnan(watch.Of("process_thread_blocked_percent")));  // every second
  EXPECT_TRUE(std::isnan(watch.Of("process_cpu_percent")));             // every 2 s
  watch.At(1s);
  EXPECT_DOUBLE_EQ(watch.Of("process_thread_blocked_percent"), 100);
  watch.At(2s);
  EXPECT_DOUBLE_EQ(watch.Of("process_thread_blocked_percent"), 100);  // from its own file
  EXPECT_DOUBLE_EQ(watch.Of("process_cpu_percent"), 100);
  EXPECT_DOUBLE_EQ(watch.Of("process_loaders_cpu_percent"), 30);
  EXPECT_DOUBLE_EQ(watch.Of("process_loaders_waiting_percent"), 10);
  EXPECT_DOUBLE_EQ(watch.Of("process_loaders_blocked_percent"), 100);
  EXPECT_TRUE(std::isnan(watch.Of("process_read_bytes_per_second")));  // every 4 s
  watch.At(4s);
  EXPECT_DOUBLE_EQ(watch.Of("process_read_bytes_per_second"), 1250);
  EXPECT_DOUBLE_EQ(watch.Of("process_write_bytes_per_second"), 0);
}

TEST(ProcessCollector, KnowsNamelessLoadersByParentCommandAndAge) {
  const FakeRoot root;
  Show(root, {.pid = 100, .children = "101 102 103 104"});
  Show(root, {.pid = 101, .parent = 100});  // a fork
  Show(root, {.pid = 102, .parent = 100});  // a fork that is about to start another program
  const std::string spawned("python3\0-c\0from multiprocessing.spawn\0--multiprocessing-fork\0"sv);
  Show(root, {.pid = 103, .parent = 100, .command = spawned});
  Show(root, {.pid = 104, .parent = 100, .command = std::string("python3\0-c\0tracker\0"sv)});
  Watch watch(root.path(), {{"rank0", 100}});
  watch.At(0s);
  EXPECT_EQ(watch.Of("process_loaders"), 0);
  Show(root, {.pid = 102, .parent = 100, .command = std::string("ls\0"sv)});
  watch.At(2s);
  EXPECT_EQ(watch.Of("process_loaders"), 2);
}

TEST(ProcessCollector, KeepsRanksApartWhoeverStartedThem) {
  const FakeRoot root;
  Show(root, {.pid = 100, .children = "101 102"});
  Show(root, {.pid = 101, .parent = 100});
  Show(root, {.pid = 102, .parent = 100});
  Watch watch(root.path(), {{"rank0", 100}, {"rank1", 101}});
  watch.At(0s);
  Show(root, {.pid = 100, .ticks = 10, .children = "101 102"});
  Show(root, {.pid = 101, .parent = 100, .ticks = 200});
  Show(root, {.pid = 102, .parent = 100, .ticks = 30});
  watch.At(2s);
  EXPECT_DOUBLE_EQ(watch.Of("process_cpu_percent", "rank0"), 20);
  EXPECT_DOUBLE_EQ(watch.Of("process_cpu_percent", "rank1"), 100);
}

TEST(ProcessCollector, FindsProcessesThatComeLaterAndForgetsThoseThatEnded) {
  const FakeRoot root;
  Show(root, {.pid = 100});
  Watch watch(root.path(), {{"rank0", 100}});
  watch.At(0s);
  EXPECT_EQ(watch.Of("process_loaders"), 0);
  Show(root, {.pid = 100, .children = "101"});
  Show(root, {.pid = 101, .parent = 100, .name = "pt_data_worker"});
  watch.At(5s);
  EXPECT_EQ(watch.Of("process_loaders"), 1);
  Show(root, {.pid = 101, .parent = 100, .name = "pt_data_worker", .state = 'Z'});
  watch.At(7s);
  EXPECT_EQ(watch.Of("process_loaders"), 0);
}

TEST(ProcessCollector, FindsWhatAnotherThreadStarted) {
  const FakeRoot root;
  Show(root, {.pid = 100});
  root.Write("/proc/100/task/150/children", "101");
  Show(root, {.pid = 101, .parent = 100, .name = "pt_data_worker"});
  Watch watch(root.path(), {{"rank0", 100}});
  watch.At(0s);
  EXPECT_EQ(watch.Of("process_loaders"), 1);
}

TEST(ProcessCollector, DoesNotTakeAnotherProcessWithTheSameNumber) {
  const FakeRoot root;
  Show(root, {.pid = 100, .children = "101"});
  Show(root, {.pid = 101, .parent = 7});  // the child ended, and its pid is reused
  Watch watch(root.path(), {{"rank0", 100}});
  watch.At(0s);
  Show(root, {.pid = 100, .state = 'Z'});
  Show(root, {.pid = 101, .parent = 7, .ticks = 200});
  watch.At(2s);
  EXPECT_TRUE(std::isnan(watch.Of("process_cpu_percent")));
  Show(root, {.pid = 100, .ticks = 9});  // still listed, but another program by now
  watch.At(4s);
  EXPECT_TRUE(std::isnan(watch.Of("process_loaders")));
}

TEST(ProcessCollector, GoesOnWithTheSameSeriesWhenARankStartsAgain) {
  const FakeRoot root;
  Show(root, {.pid = 100});
  Show(root, {.pid = 200});
  Watch watch(root.path(), {{"command", 100}});
  watch.At(0s);
  watch.training = {{"rank0", 100}};  // the command registers as a rank
  watch.At(2s);
  watch.At(4s);
  EXPECT_DOUBLE_EQ(watch.Of("process_cpu_percent"), 0);
  EXPECT_TRUE(std::isnan(watch.Of("process_loaders", "command")));
  const std::size_t series = watch.row.size();
  watch.training = {{"rank0", 200}};
  for (const Duration at : {6s, 8s}) watch.At(at);
  EXPECT_DOUBLE_EQ(watch.Of("process_cpu_percent"), 0);
  EXPECT_EQ(watch.row.size(), series);
}

TEST(ProcessCollector, LeavesOutWhatMayNotBeRead) {
  const FakeRoot root;
  Show(root, {.pid = 100});
  std::filesystem::remove(root.path() + "/proc/100/io");
  std::filesystem::remove(root.path() + "/proc/100/task/100/schedstat");
  Watch watch(root.path(), {{"rank0", 100}, {"rank1", 0}, {"rank2", 99}});
  watch.At(0s);
  Show(root, {.pid = 100, .ticks = 100});
  watch.At(2s);
  EXPECT_DOUBLE_EQ(watch.Of("process_thread_cpu_percent"), 50);  // from its ticks
  EXPECT_TRUE(std::isnan(watch.Of("process_thread_waiting_percent")));
  EXPECT_TRUE(std::isnan(watch.Of("process_read_bytes_per_second")));
  for (const SeriesName& series : watch.row.series()) EXPECT_EQ(series.device, "rank0");
}

TEST(ProcessCollector, OpensNoMoreThanSoManyProcesses) {
  const FakeRoot root;
  std::string children;
  for (int pid = 1001; pid < 1201; ++pid) children += Format("{} ", pid);
  Show(root, {.pid = 1000, .children = children});
  for (int pid = 1001; pid < 1201; ++pid) {
    Show(root, {.pid = pid, .parent = 1000, .name = "pt_data_worker"});
  }
  Show(root, {.pid = 2000});
  Watch watch(root.path(), {{"rank0", 1000}, {"rank1", 2000}});
  watch.At(0s);
  EXPECT_EQ(watch.Of("process_loaders"), 158);
  EXPECT_EQ(watch.Of("process_loaders", "rank1"), 0);
  EXPECT_EQ(watch.collector->Shortfall(), "160 are read, at least 42 more of the ranks are not");
}

TEST(ProcessCollector, SaysNothingOfARoomThatSuffices) {
  const FakeRoot root;
  Show(root, {.pid = 1000, .children = "1001 1002"});
  for (const int pid : {1001, 1002}) Show(root, {.pid = pid, .parent = 1000});
  Watch watch(root.path(), {{"rank0", 1000}, {"rank1", 1002}, {"rank2", 0}});
  for (const Duration at : {0s, 2s, 5s, 60s}) watch.At(at);
  EXPECT_EQ(watch.collector->Shortfall(), "");
}

TEST(ProcessCollector, SumsUpWhatProcessesShareAtMostOnceAMinute) {
  const FakeRoot root;
  Show(root, {.pid = 100, .children = "101"});
  Show(root, {.pid = 101, .parent = 100});
  Show(root, {.pid = 200});  // its files may not be read
  Show(root, {.pid = 300});
  root.Write("/proc/300/statm", "1 99999999 1 0 0 0 0\n");  // a walk would take too long
  for (const int pid : {100, 101, 300}) {
    root.Write(Format("/proc/{}/smaps_rollup", pid), "00-ff ---p\nRss: 900 kB\nPss: 300 kB\n");
  }
  Watch watch(root.path(), {{"rank0", 100}, {"rank1", 200}, {"rank2", 300}});
  SteadyTime at{};
  const auto told = [&] {
    watch.At(at.time_since_epoch());
    at += 2s;
    return !std::isnan(watch.Of("process_proportional_bytes"));
  };
  ASSERT_TRUE(Eventually(told));
  EXPECT_EQ(watch.Of("process_proportional_bytes"), 2 * 300 * 1024);
  EXPECT_TRUE(std::isnan(watch.Of("process_proportional_bytes", "rank1")));
  EXPECT_TRUE(std::isnan(watch.Of("process_proportional_bytes", "rank2")));
  EXPECT_FALSE(ParseProportional("Pss_Anon: 5 kB\n"));
}

double CpuSeconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

// A rank with two loaders that works for 0.1 s of CPU time when it gets a byte, and reports when it
// is done.
[[noreturn]] void Train(int commands, int answers) {
  for (int i = 0; i < 2; ++i) {
    if (fork() != 0) continue;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    prctl(PR_SET_NAME, "pt_data_worker");
    if (write(answers, "l", 1) == 1) pause();
    _exit(0);
  }
  char byte = 0;
  while (read(commands, &byte, 1) == 1) {
    for (const double until = CpuSeconds() + 0.1; CpuSeconds() < until;) {
    }
    if (write(answers, "w", 1) != 1) break;
  }
  _exit(0);
}

TEST(ProcessCollector, SeesRealProcesses) {
  int commands[2], answers[2];
  ASSERT_EQ(pipe(commands), 0);
  ASSERT_EQ(pipe(answers), 0);
  const pid_t rank = fork();
  if (rank == 0) {
    close(commands[1]);
    Train(commands[0], answers[1]);
  }
  char byte = 0;
  for (int i = 0; i < 2; ++i) ASSERT_EQ(read(answers[0], &byte, 1), 1);
  Watch watch("", {{"rank0", rank}});
  watch.At(0s);
  ASSERT_EQ(write(commands[1], "g", 1), 1);
  ASSERT_EQ(read(answers[0], &byte, 1), 1);
  watch.At(2s);
  EXPECT_EQ(watch.Of("process_loaders"), 2);
  EXPECT_NEAR(watch.Of("process_thread_cpu_percent"), 5, 1);
  EXPECT_NEAR(watch.Of("process_cpu_percent"), 5, 1);
  EXPECT_GT(watch.Of("process_resident_bytes"), 0);
  watch.At(4s);
  EXPECT_EQ(watch.Of("process_write_bytes_per_second"), 0);
  kill(rank, SIGKILL);
  waitpid(rank, nullptr, 0);
  watch.At(6s);
  EXPECT_TRUE(std::isnan(watch.Of("process_loaders")));
  for (const int end : {commands[0], commands[1], answers[0], answers[1]}) close(end);
}

}  // namespace
}  // namespace stepscope
