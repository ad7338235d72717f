// Several jobs on one socket.

#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/text.h"
#include "tests/agent/marks/intake_fixture.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing_support::FakeProcess;
using testing_support::RingWriter;

class IntakeJobsTest : public test::IntakeFixture {
 protected:
  IntakeJobsTest() {
    options_.name_job = [](const MarkHello& hello, const MarkCaller&) -> Result<std::string> {
      if (hello.job.empty()) return Invalid("it has no job");
      return hello.job;
    };
  }

  // Sends hello and waits for the answer: the reason of a refusal, "" when accepted.
  std::string Join(FakeProcess& process, const std::string& job, int rank, const RingWriter& ring,
                   const std::string& devices = "") {
    MarkHello hello;
    hello.job = job;
    hello.rank = rank;
    hello.devices = devices;
    process.Send(hello, ring.memory.get());
    const auto message = process.Receive();
    if (!message) return "hung up";
    const auto& answer = std::get<MarkAnswer>(*message);
    return answer.refused == 0 ? "" : answer.detail;
  }
  std::vector<std::string> JobNames() const {
    std::vector<std::string> names;
    for (const HeardJob& job : intake_->Jobs()) names.push_back(job.job);
    return names;
  }
  std::vector<std::int64_t> Steps(const std::string& job) {
    std::vector<std::int64_t> numbers;
    for (const RankMarks& marks : intake_->Drain(job).marks) {
      for (const Step& step : marks.steps) numbers.push_back(step.number);
    }
    return numbers;
  }
};

TEST_F(IntakeJobsTest, GivesEachJobItsOwnMarks) {
  Start();
  RingWriter first, second;
  FakeProcess a(options_.socket_path), b(options_.socket_path);
  ASSERT_EQ(Join(a, "bert", 0, first), "");
  ASSERT_EQ(Join(b, "gpt", 0, second), "");
  first.Step(1, 0ms, 10ms);
  second.Step(7, 0ms, 10ms);

  EXPECT_THAT(JobNames(), ElementsAre("bert", "gpt"));
  EXPECT_THAT(Steps("gpt"), ElementsAre(7));
  EXPECT_THAT(Steps("bert"), ElementsAre(1));
  EXPECT_THAT(Steps("nobody"), IsEmpty());
}

TEST_F(IntakeJobsTest, TellsWhichProcessesAJobHas) {
  Start();
  RingWriter ring;
  FakeProcess a(options_.socket_path), b(options_.socket_path);
  ASSERT_EQ(Join(a, "bert", 3, ring, "4,5"), "");
  ASSERT_EQ(Join(b, "bert", 1, ring), "");

  const auto jobs = intake_->Jobs();
  ASSERT_EQ(jobs.size(), 1u);
  EXPECT_EQ(jobs[0].user, geteuid());
  ASSERT_EQ(jobs[0].processes.size(), 2u);
  EXPECT_EQ(jobs[0].processes[0].rank, 1);
  EXPECT_EQ(jobs[0].processes[0].pid, getpid());
  EXPECT_EQ(jobs[0].processes[1].devices, "4,5");
}

TEST_F(IntakeJobsTest, SaysWhyAProcessHasNoJob) {
  Start();
  RingWriter ring;
  FakeProcess process(options_.socket_path);

  EXPECT_EQ(Join(process, "", 0, ring), "it has no job");
  EXPECT_THAT(JobNames(), IsEmpty());
}

TEST_F(IntakeJobsTest, ForgetsAJobOnlyWithoutProcesses) {
  Start();
  RingWriter ring;
  FakeProcess process(options_.socket_path);
  ASSERT_EQ(Join(process, "bert", 0, ring), "");
  ring.Step(0, 0ms, 10ms);
  EXPECT_FALSE(intake_->Forget("bert"));
  process.Send(MarkBye{});

  IntakeBatch batch;
  while (batch.rank_ended.empty()) batch = intake_->Drain("bert");
  EXPECT_THAT(JobNames(), ElementsAre("bert"));
  EXPECT_TRUE(intake_->Forget("bert"));
  EXPECT_THAT(JobNames(), IsEmpty());
}

TEST_F(IntakeJobsTest, AProcessWaitsUntilItsJobIsKnown) {
  int asked = 0;
  options_.name_job = [&asked](const MarkHello&,
                               const MarkCaller& caller) -> std::optional<Result<std::string>> {
    EXPECT_EQ(caller.user, geteuid());
    EXPECT_EQ(caller.group, getegid());
    if (++asked < 3) return std::nullopt;
    return Result<std::string>("bert");
  };
  options_.read_interval = 1ms;
  Start();
  RingWriter ring;
  ring.Step(0, 0ms, 10ms);
  FakeProcess process(options_.socket_path);
  EXPECT_EQ(Join(process, "", 0, ring), "");
  EXPECT_EQ(asked, 3);
  EXPECT_THAT(Steps("bert"), ElementsAre(0));
}

TEST_F(IntakeJobsTest, NumbersOfARestartedRankGoOn) {
  Start();
  RingWriter first, second;
  FakeProcess a(options_.socket_path);
  ASSERT_EQ(Join(a, "bert", 0, first), "");
  first.Step(5, 0ms, 10ms);
  a.Send(MarkBye{});
  while (intake_->Drain("bert").rank_ended.empty()) continue;
  FakeProcess b(options_.socket_path);
  ASSERT_EQ(Join(b, "bert", 0, second), "");
  second.Step(0, 0ms, 10ms);

  EXPECT_THAT(Steps("bert"), ElementsAre(6));
}

TEST_F(IntakeJobsTest, HasABoundOfJobs) {
  options_.max_jobs = 2;
  Start();
  RingWriter ring;
  FakeProcess a(options_.socket_path), b(options_.socket_path), c(options_.socket_path);
  ASSERT_EQ(Join(a, "a", 0, ring), "");
  ASSERT_EQ(Join(b, "b", 0, ring), "");

  EXPECT_THAT(Join(c, "c", 0, ring), HasSubstr("2 jobs are running already"));
}

TEST_F(IntakeJobsTest, AnotherUserMayHaveHalfOfTheJobs) {
  options_.max_jobs = 2;
  options_.user = geteuid() + 1;
  options_.allow_other_users = true;
  Start();
  RingWriter ring;
  FakeProcess a(options_.socket_path), b(options_.socket_path);
  ASSERT_EQ(Join(a, "a", 0, ring), "");

  EXPECT_THAT(Join(b, "b", 0, ring), HasSubstr("1 of user"));
}

TEST_F(IntakeJobsTest, AnotherUserMayHaveHalfOfTheProcesses) {
  options_.max_processes = 4;
  options_.user = geteuid() + 1;
  options_.allow_other_users = true;
  Start();
  RingWriter ring;
  FakeProcess a(options_.socket_path), b(options_.socket_path), c(options_.socket_path);
  ASSERT_EQ(Join(a, "a", 0, ring), "");
  ASSERT_EQ(Join(b, "a", 1, ring), "");

  EXPECT_THAT(Join(c, "a", 2, ring), HasSubstr("2 of user"));
}

// Root acts as the second user: without root only the first half can run.
TEST_F(IntakeJobsTest, AJobBelongsToTheUserWhoNamedItFirst) {
  if (geteuid() != 0) GTEST_SKIP() << "needs root";
  options_.allow_other_users = true;
  Start();
  chmod(folder_.path().c_str(), 0755);
  RingWriter ring;
  FakeProcess mine(options_.socket_path);
  ASSERT_EQ(Join(mine, "bert", 0, ring), "");
  ASSERT_EQ(seteuid(65534), 0);
  FakeProcess theirs(options_.socket_path);
  ASSERT_EQ(seteuid(0), 0);

  EXPECT_EQ(Join(theirs, "bert", 0, ring), "job bert belongs to user 0");
}

TEST_F(IntakeJobsTest, TheKernelLetsAGroupIn) {
  options_.group = getegid();
  Start();
  struct stat file {};
  ASSERT_EQ(stat(options_.socket_path.c_str(), &file), 0);

  EXPECT_EQ(file.st_mode & 0777, 0660u);
  EXPECT_EQ(file.st_gid, getegid());
}

TEST_F(IntakeJobsTest, HearsAThousandProcesses) {
  rlimit files{};
  getrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_max < 3300) GTEST_SKIP() << "needs 3300 open files";
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  Start();
  RingWriter ring;
  std::vector<std::unique_ptr<FakeProcess>> processes;
  for (int i = 0; i < 1024; ++i) {
    processes.push_back(std::make_unique<FakeProcess>(options_.socket_path));
    ASSERT_EQ(Join(*processes.back(), Format("job-{}", i % 64), i / 64, ring), "") << i;
  }

  std::size_t heard = 0;
  for (const HeardJob& job : intake_->Jobs()) heard += job.processes.size();
  EXPECT_EQ(heard, processes.size());
  EXPECT_EQ(JobNames().size(), 64u);
  FakeProcess more(options_.socket_path);
  EXPECT_THAT(Join(more, "job-1", 99, ring), HasSubstr("1024 processes are connected already"));
}

TEST_F(IntakeJobsTest, WindowsOfAllJobsShareTheRoom) {
  Start();
  RingWriter ring(65'536), other_ring(1024);
  FakeProcess one(options_.socket_path), other(options_.socket_path);
  ASSERT_EQ(Join(one, "one", 0, ring) + Join(other, "other", 0, other_ring), "");
  const auto keep = [&](const std::string& job) {
    return intake_->KeepSpans(job, {1, 2, 2, "spans-1", 60s});
  };
  const auto run_step = [](RingWriter& writer, int spans) {
    for (int i = 0; i < spans; ++i) writer.Annotation(0, 30ms, 1us);
    writer.Step(2, 20ms, 20ms);
  };
  const auto end_of = [&](const std::string& job) {
    std::optional<SpanWindowEnd> end;
    for (int i = 0; i < 3 && !end; ++i) end = intake_->Drain(job).window_ended;
    return end.value_or(SpanWindowEnd{});
  };
  ring.Step(0, 0ms, 10ms);
  other_ring.Step(0, 0ms, 10ms);
  ASSERT_EQ(keep("one") + keep("other"), "");
  ring.Step(1, 10ms, 10ms);
  other_ring.Step(1, 10ms, 10ms);
  for (int i = 0; i < 65'000; ++i) ring.Annotation(0, 30ms, 1us);
  intake_->Drain("one");
  run_step(ring, 1'000);
  ASSERT_FALSE(intake_->Drain("one").window_ended);
  run_step(other_ring, 10);
  EXPECT_EQ(end_of("other").dropped, 10);
  EXPECT_EQ(end_of("one").spans, static_cast<std::int64_t>(Intake::kMostWindowSpans));

  // The room is there again.
  ASSERT_EQ(intake_->KeepSpans("other", {2, 4, 4, "spans-2", 60s}), "");
  other_ring.Step(3, 40ms, 10ms);
  other_ring.Annotation(0, 55ms, 1us);
  other_ring.Step(4, 50ms, 10ms);
  EXPECT_EQ(end_of("other").spans, 1);
}

}  // namespace
}  // namespace stepscope
