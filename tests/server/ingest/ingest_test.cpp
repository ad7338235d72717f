// Acknowledged frames are stored once; the answer names all others.

#include "server/ingest/ingest.h"

#include <algorithm>
#include <random>
#include <thread>

#include "core/base/text.h"
#include "server/store/jobs/job_events.h"
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/support/eventually.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class ExactlyOnce : public IngestTest {};

TEST_F(ExactlyOnce, RepeatedFramesAreAcknowledgedAgainAndStoredOnce) {
  FrameMaker agent("train");
  const std::string first = agent.Started(), second = agent.Ticks(kStartUs),
                    third = agent.Ticks(kStartUs + 2'000'000, 4, false);
  ExpectStored(Push({first, second}), 2);
  ExpectStored(Push({first, second}), 2);
  ExpectStored(Push({second, third}), 3);
  ExpectStored(Push({first}), 3);
  EXPECT_EQ(Frames(), 2);
  EXPECT_EQ(Ticks().at_us.size(), 8u);
  EXPECT_EQ(ingest_->figures().duplicates, 4u);
  EXPECT_EQ(ingest_->figures().samples, 16u);
}

TEST_F(ExactlyOnce, HoleIsRefusedWithTheNumberExpected) {
  FrameMaker agent("train");
  const std::string first = agent.Started(), second = agent.Ticks(kStartUs),
                    third = agent.Ticks(kStartUs + 2'000'000);
  const PushReply before = Push({second});
  ExpectProblem(before, 409, "gap");
  EXPECT_EQ(before.expected, 1u);
  ExpectStored(Push({first}), 1);
  const PushReply hole = Push({third});
  ExpectProblem(hole, 409, "gap");
  EXPECT_EQ(hole.expected, 2u);
  EXPECT_EQ(Frames(), 0);
  ExpectStored(Push({second, third}), 3);
}

TEST_F(ExactlyOnce, HoleInsideAPushKeepsWhatStandsBeforeIt) {
  FrameMaker agent("train");
  const std::string first = agent.Started(), second = agent.Ticks(kStartUs);
  agent.head.sequence = 5;
  const std::string sixth = agent.Ticks(kStartUs + 9'000'000);
  const PushReply reply = Push({first, second, sixth});
  ExpectProblem(reply, 409, "gap");
  EXPECT_EQ(reply.expected, 3u);
  EXPECT_EQ(Frames(), 1);
}

TEST_F(ExactlyOnce, LostRangeMovesTheCursorAndIsCounted) {
  FrameMaker agent("train");
  const std::string first = agent.Started(), lost = agent.Lost(7), eighth = agent.Ticks(kStartUs);
  ExpectStored(Push({first, lost}), 7);
  ExpectStored(Push({lost, eighth}), 8);
  EXPECT_EQ(Count("select lost from streams"), 6);
  EXPECT_EQ(Count("select count(*) from events where kind = 'frames_lost'"), 1);
}

// Else whoever sends what is refused could fill the database with the refusals.
TEST_F(ExactlyOnce, APushTellsOnceOfAllItsRefusedFrames) {
  FrameMaker agent("train");
  std::vector<std::string> frames = {agent.Started()};
  for (int i = 0; i < 200; ++i) frames.push_back(agent.Lifecycle({{"event", "dances"}}));
  const PushReply reply = Push(frames);
  ExpectStored(reply, 201);
  EXPECT_EQ(reply.answer.rejected.size(), 200u);
  const auto events = ListEvents(*connection_, Job().job_id, "", 50);
  ASSERT_TRUE(events) << events.error().message;
  ASSERT_EQ(events->items.size(), 2u);
  const auto refused = std::ranges::find(events->items, "frame_rejected", &JobEvent::kind);
  const auto started = std::ranges::find(events->items, "agent_started", &JobEvent::kind);
  ASSERT_TRUE(refused != events->items.end() && started != events->items.end());
  EXPECT_EQ(refused->node, "n1");
  EXPECT_EQ(refused->count, 200);
  EXPECT_EQ(refused->detail["sequence"], 2);
  EXPECT_EQ(refused->detail["code"], "bad-lifecycle");
  EXPECT_EQ(started->count, 1);
}

TEST_F(ExactlyOnce, SurvivesTheServiceAndItsMemory) {
  FrameMaker agent("train");
  const std::string first = agent.Started(), second = agent.Ticks(kStartUs);
  ExpectStored(Push({first, second}), 2);
  Restart();
  ExpectStored(Push({second}), 2);
  ExpectStored(Push({agent.Ticks(kStartUs + 2'000'000, 4, false)}), 3);
  EXPECT_EQ(Ticks().at_us.size(), 8u);
}

TEST_F(ExactlyOnce, ConnectionsKilledInTheMiddleLoseAndDoubleNothing) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  std::jthread killer([this](std::stop_token stop) {
    while (!stop.stop_requested()) database_.EndSessions();
  });
  std::int64_t stored = 0;
  int failed = 0;
  while ((failed < 5 || stored < 40) && stored < 5'000) {
    const std::string frame = agent.Ticks(kStartUs + stored * 2'000'000);
    PushReply reply = Push({frame});
    for (; reply.status == 503 && failed < 10'000; ++failed) reply = Push({frame});
    ExpectStored(reply, agent.head.sequence);
    ++stored;
  }
  killer.request_stop();
  killer.join();
  EXPECT_GE(failed, 5);
  connection_ = database_.Connect();
  EXPECT_EQ(Frames(), stored);
  const TickTable ticks = Ticks();
  ASSERT_EQ(ticks.at_us.size(), static_cast<std::size_t>(4 * stored));
  for (std::size_t i = 0; i < ticks.at_us.size(); ++i) {
    EXPECT_EQ(ticks.columns[0].values[i], static_cast<std::int64_t>((i / 4 + 2) * 100 + i % 4));
  }
}

TEST_F(ExactlyOnce, TwoServicesTakeTheSameStream) {
  Database other_store(database_.url(), 4);
  Ingest other(other_store, clock_, {});
  FrameMaker agent("train");
  std::vector<std::string> frames = {agent.Started()};
  for (int i = 0; i < 80; ++i) frames.push_back(agent.Ticks(kStartUs + i * 2'000'000));
  const auto drive = [&](Ingest& ingest, unsigned seed) {
    std::mt19937 dice(seed);
    std::size_t next = 0;
    for (int tried = 0; next < frames.size() && tried < 2'000; ++tried) {
      std::vector<std::string> some;
      for (std::size_t i = next; i < std::min(frames.size(), next + 1 + dice() % 4); ++i) {
        some.push_back(frames[i]);
      }
      const PushReply reply = ingest.Push(test::PushOf(some));
      if (reply.status == 200) next = reply.answer.acknowledged;
      if (reply.status == 409) next = reply.expected - 1;
    }
    EXPECT_EQ(next, frames.size());
  };
  std::jthread one([&] { drive(*ingest_, 1); });
  std::jthread two([&] { drive(other, 2); });
  one.join();
  two.join();
  EXPECT_EQ(Frames(), 80);
  EXPECT_EQ(Ticks().at_us.size(), 320u);
  EXPECT_EQ(Count("select stored from streams"), 81);
}

TEST_F(ExactlyOnce, ManyAgentsShareGroups) {
  constexpr int kAgents = 12;
  std::vector<std::jthread> agents;
  for (int i = 0; i < kAgents; ++i) {
    agents.emplace_back([this, i] {
      FrameMaker agent("train", Format("n{}", i));
      ExpectStored(Push({agent.Started(), agent.Ticks(kStartUs)}), 2);
      ExpectStored(Push({agent.Ticks(kStartUs + 2'000'000, 4, false)}), 3);
    });
  }
  agents.clear();
  EXPECT_EQ(Frames(), 2 * kAgents);
  EXPECT_EQ(Count("select count(*) from jobs"), 1);
  EXPECT_EQ(ListNodes(*connection_, Job().job_id)->size(), static_cast<std::size_t>(kAgents));
}

TEST_F(ExactlyOnce, DatabaseAwayIsUnavailableAndComesBack) {
  FrameMaker agent("train");
  const std::string first = agent.Started();
  Database nowhere("postgresql:///x?host=/nonexistent&user=x", 2);
  Ingest blind(nowhere, clock_, {});
  ExpectProblem(blind.Push(test::PushOf({first})), 503, "unavailable");
  ExpectStored(Push({first}), 1);
}

class GroupHalving : public IngestTest {};

TEST_F(GroupHalving, CulpritIsRejectedAndTheOthersAreStored) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  ASSERT_TRUE(connection_->Execute("alter table frames add check (rows <> 3)"));
  std::vector<std::string> frames;
  for (int i = 0; i < 9; ++i) {
    frames.push_back(agent.Ticks(kStartUs + i * 2'000'000, i == 0 || i == 5 ? 3 : 4, i == 0));
  }
  const PushReply reply = Push(frames);
  ExpectStored(reply, 10);
  ASSERT_EQ(reply.answer.rejected.size(), 2u);
  EXPECT_EQ(reply.answer.rejected[0].sequence, 2u);
  EXPECT_EQ(reply.answer.rejected[1].sequence, 7u);
  EXPECT_EQ(reply.answer.rejected[1].code, "refused");
  EXPECT_EQ(Frames(), 7);
  EXPECT_EQ(Count("select rejected from streams"), 2);
  // The schema rode on a frame that was refused; the others are readable all the same.
  EXPECT_EQ(Ticks().at_us.size(), 28u);
}

// A half is stored when the other one meets a full disk: its sender is not told, but it is counted.
TEST_F(GroupHalving, WhatIsStoredOfAGroupThatFailsIsCounted) {
  if (connection_->distributed()) GTEST_SKIP() << "Citus takes no triggers";
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  ASSERT_TRUE(connection_->Execute(R"(
create function refuse() returns trigger language plpgsql as $$
begin
    if (select count(*) from fresh) > 1 then raise sqlstate '22000'; end if;
    if (select rows from fresh) = 3 then raise sqlstate '53100'; end if;
    return null;
end $$;
create trigger refuse after insert on frames referencing new table as fresh
    for each statement execute function refuse())"));
  const std::vector<std::string> frames = {agent.Ticks(kStartUs, 4),
                                           agent.Ticks(kStartUs + 2'000'000, 3)};
  const IngestFigures before = ingest_->figures();
  ExpectProblem(Push(frames), 503, "unavailable");
  EXPECT_EQ(Frames(), 1);
  EXPECT_EQ(ingest_->figures().frames, before.frames + 1);
  EXPECT_EQ(ingest_->figures().samples, before.samples + 8);
  EXPECT_EQ(ingest_->figures().pushes, before.pushes);
  ASSERT_TRUE(connection_->Execute("drop trigger refuse on frames"));
  ExpectStored(Push(frames), 3);
  EXPECT_EQ(ingest_->figures().frames, before.frames + 2);
  EXPECT_EQ(ingest_->figures().duplicates, before.duplicates + 1);
}

// The writer waits until the pushes of all agents are there.
TEST_F(GroupHalving, CulpritsOfSomeStreamsAreRejectedAndAllOthersAreStored) {
  constexpr std::size_t kAgents = 6;
  std::vector<FrameMaker> agents;
  for (std::size_t i = 0; i < kAgents; ++i) {
    agents.emplace_back("train", Format("n{}", i));
    ExpectStored(Push({agents[i].Started()}), 1);
  }
  ASSERT_TRUE(connection_->Execute("alter table frames add check (rows <> 3)"));
  IngestOptions options;
  options.group_frames = 2 * kAgents;
  options.group_wait = options.answer_within = 60s;
  Ingest together(store_, clock_, options);
  std::vector<PushReply> replies(kAgents);
  std::vector<std::jthread> pushes;
  for (std::size_t i = 0; i < kAgents; ++i) {
    pushes.emplace_back([&, i] {
      const std::string first = agents[i].Ticks(kStartUs, i == 4 ? 3 : 4);
      const std::string second = agents[i].Ticks(kStartUs + 2'000'000, i == 1 ? 3 : 4);
      replies[i] = together.Push(test::PushOf({first, second}));
    });
  }
  pushes.clear();
  for (std::size_t i = 0; i < kAgents; ++i) {
    ExpectStored(replies[i], 3);
    EXPECT_EQ(replies[i].answer.rejected.size(), i == 1 || i == 4 ? 1u : 0u) << i;
  }
  ExpectRejected(replies[1], 3, "refused");
  ExpectRejected(replies[4], 2, "refused");
  EXPECT_EQ(together.figures().groups, 1u);
  EXPECT_EQ(Frames(), 2 * static_cast<std::int64_t>(kAgents) - 2);
  EXPECT_EQ(Count("select count(*) from streams where rejected = 1"), 2);
  EXPECT_EQ(Count("select sum(rejected + lost) from streams"), 2);
}

// A push that the writer has, one that waits, and one for which there is no room.
TEST_F(GroupHalving, ADatabaseThatHoldsTheWriterFillsTheQueueAndEmptiesIt) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  std::vector<std::string> frames;
  for (int i = 0; i < 3; ++i) frames.push_back(agent.Ticks(kStartUs + i * 2'000'000));
  IngestOptions options;
  options.queue_bound = 1;
  options.group_wait = 0ms;
  options.answer_within = 50ms;
  Ingest narrow(store_, clock_, options);
  Result<Transaction> lock = Transaction::Begin(*connection_);
  ASSERT_TRUE(lock);
  ASSERT_TRUE(connection_->Query("select * from streams where job_id = 1 for update"));
  for (const std::size_t i : {0u, 1u}) {
    const PushReply slow = narrow.Push(test::PushOf({frames[i]}));
    ExpectProblem(slow, 503, "unavailable");
    EXPECT_EQ(slow.detail, "ingest: the database takes long; send it again");
  }
  const PushReply full = narrow.Push(test::PushOf({frames[2]}));
  const IngestFigures held = narrow.figures();
  ExpectProblem(full, 503, "unavailable");
  EXPECT_EQ(full.detail, "ingest: too many pushes wait; send it again");
  EXPECT_EQ(held.queue_length, 1u);
  EXPECT_GT(held.queue_age, 0ms);
  EXPECT_GE(held.commit_p95, 50ms);
  ASSERT_TRUE(lock->Commit());
  PushReply again;
  EXPECT_TRUE(Eventually([&] {
    again = narrow.Push(test::PushOf(frames));
    return again.status == 200;
  }));
  ExpectStored(again, 4);
  EXPECT_EQ(narrow.figures().queue_length, 0u);
  EXPECT_EQ(Frames(), 3);
}

// The queue is bounded by its bytes, too, with those that are being stored.
TEST_F(GroupHalving, TheQueueHoldsSoManyBytes) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  const std::string first = test::PushOf({agent.Ticks(kStartUs, 600)});
  const std::string second = test::PushOf({agent.Ticks(kStartUs + 300'000'000, 600)});
  IngestOptions options;
  options.queue_bytes = first.size() + second.size() - 1;
  options.group_wait = 0ms;
  options.answer_within = 50ms;
  Ingest narrow(store_, clock_, options);
  Result<Transaction> lock = Transaction::Begin(*connection_);
  ASSERT_TRUE(lock && connection_->Query("select * from streams where job_id = 1 for update"));
  ExpectProblem(narrow.Push(first), 503, "unavailable");
  EXPECT_EQ(narrow.figures().queue_bytes, first.size());
  const PushReply full = narrow.Push(second);
  ExpectProblem(full, 503, "unavailable");
  EXPECT_EQ(full.detail, "ingest: too many pushes wait; send it again");
  ASSERT_TRUE(lock->Commit());
  EXPECT_TRUE(Eventually([&] { return narrow.figures().queue_bytes == 0; }));
  ExpectStored(ingest_->Push(second), 3);
}

TEST_F(GroupHalving, LockThatIsHeldIsUnavailable) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  Result<Transaction> lock = Transaction::Begin(*connection_);
  ASSERT_TRUE(lock);
  ASSERT_TRUE(connection_->Query("select * from streams where job_id = 1 for update"));
  ExpectProblem(Push({agent.Ticks(kStartUs)}), 503, "unavailable");
  ASSERT_TRUE(lock->Commit());
  agent.head.sequence = 1;
  ExpectStored(Push({agent.Ticks(kStartUs)}), 2);
}

}  // namespace
}  // namespace stepscope
