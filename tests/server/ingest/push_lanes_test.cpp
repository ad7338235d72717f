#include "server/ingest/push_lanes.h"

#include <gtest/gtest.h>

#include "server/ingest/push_queue.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

PushLanes::Waiting PushOf(const std::string& sender, const std::string& job, std::size_t bytes = 1,
                          SteadyTime since = {}) {
  auto push = std::make_unique<WaitingPush>();
  push->push.sender = sender;
  push->push.job = job;
  push->push.frames.resize(1);
  push->bytes = bytes;
  push->since = since;
  return push;
}

TEST(PushLanes, SendersAndTheirJobsTakeTurns) {
  PushLanes lanes;
  for (int i = 0; i < 3; ++i) lanes.Add(PushOf("much", "a"));
  lanes.Add(PushOf("much", "b"));
  lanes.Add(PushOf("little", "c"));
  std::string order;
  while (!lanes.empty()) order += lanes.TakeNext()->push.job;
  EXPECT_EQ(order, "acbaa");
  EXPECT_EQ(lanes.TakeNext(), nullptr);
  EXPECT_EQ(lanes.bytes() + lanes.frames() + lanes.pushes(), 0U);
}

TEST(PushLanes, WithinAJobTheyStayInOrder) {
  PushLanes lanes;
  for (std::size_t bytes = 1; bytes <= 50; ++bytes) {
    lanes.Add(PushOf("x", "a", bytes));
    lanes.Add(PushOf("x", "b", bytes));
  }
  std::size_t last = 0;
  while (!lanes.empty()) {
    const auto push = lanes.TakeNext();
    if (push->push.job != "a") continue;
    EXPECT_EQ(push->bytes, ++last);
  }
}

TEST(PushLanes, TakesThoseThatCameBefore) {
  PushLanes lanes;
  for (int second = 1; second <= 4; ++second) {
    lanes.Add(PushOf("x", "a", 1, SteadyTime(std::chrono::seconds(second))));
    lanes.Add(PushOf("y", "b", 1, SteadyTime(std::chrono::seconds(second + 2))));
  }
  EXPECT_EQ(lanes.Oldest(), SteadyTime(1s));
  EXPECT_EQ(lanes.Oldest("y", "b"), SteadyTime(3s));
  EXPECT_EQ(lanes.TakeBefore(SteadyTime(4s)).size(), 4U);
  EXPECT_EQ(lanes.pushes(), 4U);
  EXPECT_EQ(lanes.BytesOf("x"), 1U);
  EXPECT_EQ(lanes.BytesOf("x", "b"), 0U);
}

// Whoever fills the queue fills its own part of it.
TEST(PushQueue, HasRoomForOthersWhateverOneSends) {
  IngestOptions options;
  options.queue_bytes = 1'000;
  test::FakeClock clock(Time{});
  const JobMachines machines;
  PushQueue queue(options, clock, machines);
  const auto takes = [&](const std::string& sender, const std::string& job, std::size_t bytes) {
    auto push = PushOf(sender, job, bytes, clock.Steady());
    return queue.Add(push);
  };
  std::size_t taken = 0;
  for (int job = 0; job < 50; ++job) {
    while (takes("attacker", std::to_string(job), 10)) taken += 10;
  }
  EXPECT_LE(taken, 800U);
  EXPECT_TRUE(takes("honest", "mlp", 100));
  const PushBatch batch = queue.TakeBatch();
  const bool is_soon = batch.size() >= 2 && batch[1]->push.sender == "honest";
  EXPECT_TRUE(is_soon) << "it does not wait for all that came before";
}

// Several threads write: each takes pushes of one job, and of no job that another one writes.
TEST(PushQueue, SeveralWritersTakeAJobEach) {
  IngestOptions options;
  options.writers = 2;
  test::FakeClock clock(Time{});
  JobMachines machines;
  machines.Put("a", CitusMachine{1, "", 0}, clock.Steady());
  machines.Put("b", CitusMachine{2, "", 0}, clock.Steady());
  PushQueue queue(options, clock, machines);
  for (const char* job : {"a", "b", "a"}) {
    auto push = PushOf("x", job, 1, clock.Steady());
    ASSERT_TRUE(queue.Add(push));
  }
  const auto jobs_of = [](const PushBatch& batch) {
    std::string jobs;
    for (const auto& push : batch) jobs += push->push.job;
    return jobs;
  };
  EXPECT_EQ(jobs_of(queue.TakeBatch()), "aa");
  auto later = PushOf("y", "a", 1, clock.Steady());
  ASSERT_TRUE(queue.Add(later));
  EXPECT_EQ(jobs_of(queue.TakeBatch()), "b");
  EXPECT_FALSE(queue.some()) << "the first writer has not answered yet";
  EXPECT_TRUE(queue.TakeBatch().empty());
  queue.Release({"a", 2});
  EXPECT_TRUE(queue.some());
  EXPECT_EQ(jobs_of(queue.TakeBatch()), "a");
}

// A machine that hangs holds up no writers but half of them, and soon no pushes of others.
TEST(PushQueue, AMachineHasHalfOfTheWriters) {
  IngestOptions options;
  options.writers = 4;
  test::FakeClock clock(Time{});
  JobMachines machines;
  for (const char* job : {"a", "b", "c"}) machines.Put(job, CitusMachine{1, "", 0}, clock.Steady());
  machines.Put("d", CitusMachine{2, "", 0}, clock.Steady());
  PushQueue queue(options, clock, machines);
  for (const char* job : {"a", "b", "c", "d"}) {
    auto push = PushOf("x", job, 1, clock.Steady());
    ASSERT_TRUE(queue.Add(push));
  }
  for (const char* job : {"a", "b", "d"}) EXPECT_EQ(queue.TakeBatch().at(0)->push.job, job);
  EXPECT_FALSE(queue.some()) << "c waits for a writer of its machine";
  IngestFigures figures;
  queue.Release({"d", 1});
  clock.Advance(PushQueue::kHangsAfter + 1ms);
  queue.FillFigures(figures);
  EXPECT_EQ(figures.queue_age, Duration::zero()) << "what waits for the machine alone is no queue";
  EXPECT_TRUE(queue.Hangs("a") && queue.Hangs("c"));
  EXPECT_FALSE(queue.Hangs("d") || queue.Hangs("not known"));
  machines.NoteAnswer(1, clock.Steady());
  EXPECT_FALSE(queue.Hangs("a") || queue.Hangs("c")) << "it answers; what a waits for is elsewhere";
  queue.Release({"a", 1});
  EXPECT_EQ(queue.TakeBatch().at(0)->push.job, "c");
}

// An old push of one job says nothing of another's.
TEST(PushQueue, TheAgeOfAQueueIsThatOfTheJob) {
  IngestOptions options;
  test::FakeClock clock(Time{});
  const JobMachines machines;
  PushQueue queue(options, clock, machines);
  auto push = PushOf("x", "a", 1, clock.Steady() - 3s);
  EXPECT_TRUE(queue.Add(push));
  push = PushOf("x", "a", 1, clock.Steady());
  EXPECT_FALSE(queue.Add(push));
  push = PushOf("x", "b", 1, clock.Steady());
  EXPECT_TRUE(queue.Add(push));
}

// A sender that floods is late by itself; the service is late when all of them are.
TEST(PushQueue, TheAgeOfAllIsThatOfTheSenderThatWaitsLeast) {
  IngestOptions options;
  test::FakeClock clock(Time{});
  clock.Advance(10s);
  const JobMachines machines;
  PushQueue queue(options, clock, machines);
  const auto shared_age = [&](const std::string& sender, Duration waited) {
    auto push = PushOf(sender, "a", 1, clock.Steady() - waited);
    EXPECT_TRUE(queue.Add(push));
    IngestFigures figures;
    queue.FillFigures(figures);
    return figures.shared_age;
  };
  EXPECT_EQ(shared_age("flood", 3s), Duration::zero());
  EXPECT_FALSE(queue.HasRoomFor("flood", "a", 1)) << "it is refused before it is checked";
  EXPECT_TRUE(queue.HasRoomFor("honest", "b", 1));
  EXPECT_EQ(shared_age("honest", 1s), 1s);
  EXPECT_EQ(shared_age("", 2s), 1s);
}

TEST(PushQueue, WhereNobodyHasANameTheAgeOfAllIsThatOfTheFirst) {
  IngestOptions options;
  test::FakeClock clock(Time{});
  const JobMachines machines;
  PushQueue queue(options, clock, machines);
  auto push = PushOf("", "a", 1, clock.Steady() - 3s);
  EXPECT_TRUE(queue.Add(push));
  IngestFigures figures;
  queue.FillFigures(figures);
  EXPECT_EQ(figures.shared_age, 3s);
}

TEST(PushQueue, OneSenderDoesNotTakeEveryPlace) {
  IngestOptions options;
  options.queue_bound = 100;
  test::FakeClock clock(Time{});
  const JobMachines machines;
  PushQueue queue(options, clock, machines);
  const auto takes = [&](const std::string& sender) {
    auto push = PushOf(sender, "a", 1, clock.Steady());
    return queue.Add(push);
  };
  int taken = 0;
  while (taken < 100 && takes("flood")) ++taken;
  EXPECT_EQ(taken, 75);
  EXPECT_TRUE(takes("honest"));
}

}  // namespace
}  // namespace stepscope
