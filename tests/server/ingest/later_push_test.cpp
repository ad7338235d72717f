// Pushes whose senders do not wait on the thread that brings them.

#include <gtest/gtest.h>

#include <new>

#include "core/base/guarded.h"
#include "core/base/text.h"
#include "tests/server/ingest/ingest_fixture.h"
#include "tests/support/eventually.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class LaterPush : public IngestTest {
 protected:
  TakeReply Take() {
    return [this](PushReply reply) {
      replies_.Change([&](auto& all) { all.push_back(std::move(reply)); });
    };
  }
  void Send(Ingest& ingest, std::string_view body, TakeReply take) {
    ingest.Push(*ingest.Receive(body, MayWait::kYes), "", std::move(take));
  }
  bool ReadsAtOnce(std::string_view body) {
    return ingest_->Receive(body, MayWait::kNo).has_value();
  }
  std::vector<PushReply> Replies(std::size_t count) const {
    replies_.Wait({}, 10s, [&](const auto& all) { return all.size() >= count; });
    return replies_.Read([](const auto& all) { return all; });
  }

 private:
  Guarded<std::vector<PushReply>> replies_;
};

TEST_F(LaterPush, OneThreadBringsAGroup) {
  constexpr std::size_t kAgents = 200;
  IngestOptions options;
  options.group_frames = kAgents;
  options.group_wait = 60s;
  Ingest together(store_, clock_, options);
  for (std::size_t i = 0; i < kAgents; ++i) {
    FrameMaker agent("train", Format("n{}", i));
    Send(together, test::PushOf({agent.Started()}), Take());
  }
  for (const PushReply& reply : Replies(kAgents)) ExpectStored(reply, 1);
  EXPECT_EQ(together.figures().groups, 1u);
  EXPECT_EQ(Count("select count(*) from streams"), static_cast<int>(kAgents));
}

TEST_F(LaterPush, WhatCannotBeReadIsRefusedAtOnce) {
  ingest_->Push(*ingest_->Receive("nonsense", MayWait::kNo), "", Take());
  const auto replies = Replies(1);
  ASSERT_EQ(replies.size(), 1u);
  ExpectProblem(replies[0], 400, "bad-frame");
}

// A schema that no session of this service has sent is for a thread that may ask the database.
TEST_F(LaterPush, ASmallPushIsReadAtOnceOnceItsSchemaIsKnown) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started(), agent.Ticks(kStartUs, 4, true)}), 2);
  const std::string next = test::PushOf({agent.Ticks(kStartUs + 2'000'000, 4, false)});
  auto push = ingest_->Receive(next, MayWait::kNo);
  ASSERT_TRUE(push);
  ingest_->Push(std::move(*push), "", Take());
  ExpectStored(Replies(1).at(0), 3);
  Restart();
  const std::string last = test::PushOf({agent.Ticks(kStartUs + 4'000'000, 4, false)});
  EXPECT_FALSE(ReadsAtOnce(last));
  ExpectStored(ingest_->Push(last), 4);
  EXPECT_TRUE(ReadsAtOnce(last));
  EXPECT_EQ(Frames(), 3);
}

// Nobody shall hold up the edge for long.
TEST_F(LaterPush, WhatTakesLongIsNotReadAtOnce) {
  FrameMaker agent("train");
  const std::string started = agent.Started(), first = agent.Ticks(kStartUs, 4, true);
  EXPECT_FALSE(ReadsAtOnce(test::PushOf({started}))) << "by its kind";
  EXPECT_FALSE(ReadsAtOnce(test::PushOf({first}))) << "by its schema";
  ExpectStored(Push({started, first}), 2);
  std::vector<std::string> many, long_ones;
  for (std::int64_t i = 1; i <= 200; ++i) {
    many.push_back(agent.Ticks(kStartUs + i * 2'000'000, 4, false));
  }
  EXPECT_FALSE(ReadsAtOnce(test::PushOf(many))) << "by its bytes";
  // A steady growth takes few bytes, and there are 600 rows in each frame.
  for (std::int64_t i = 0; i < 20; ++i) {
    long_ones.push_back(agent.Ticks(kStartUs + (500 + i * 300) * 1'000'000, 600, false));
  }
  EXPECT_LT(test::PushOf(long_ones).size(), 16u * 1024);
  EXPECT_FALSE(ReadsAtOnce(test::PushOf(long_ones))) << "by its cells";
  EXPECT_TRUE(ReadsAtOnce(test::PushOf({long_ones[0]})));
}

TEST_F(LaterPush, WhatWaitsIsAnsweredWhenItGoes) {
  FrameMaker agent("train");
  {
    IngestOptions options;
    options.group_wait = 60s;
    Ingest ending(store_, clock_, options);
    Send(ending, test::PushOf({agent.Started(), agent.Ticks(kStartUs)}), Take());
  }
  const auto replies = Replies(1);
  ASSERT_EQ(replies.size(), 1u);
  ExpectStored(replies[0], 2);
  EXPECT_EQ(Frames(), 1);
}

// Its sender was told to send it again; and nobody joins a queue that is as slow as that.
TEST_F(LaterPush, WhatWaitedTooLongIsNotStored) {
  FrameMaker agent("train");
  ExpectStored(Push({agent.Started()}), 1);
  std::vector<std::string> frames;
  for (int i = 0; i < 3; ++i) frames.push_back(agent.Ticks(kStartUs + i * 2'000'000));
  IngestOptions options;
  options.group_wait = 0ms;
  options.queue_age = 100ms;
  options.answer_within = 200ms;
  Ingest slow(store_, clock_, options);
  Result<Transaction> lock = Transaction::Begin(*connection_);
  ASSERT_TRUE(lock && connection_->Query("select * from streams where job_id = 1 for update"));
  Send(slow, test::PushOf({frames[0]}), Take());
  EXPECT_TRUE(Eventually([&] { return slow.figures().queue_length == 0; })) << "the writer has it";
  Send(slow, test::PushOf({frames[0], frames[1]}), Take());
  EXPECT_TRUE(Eventually([&] { return slow.figures().queue_age > 200ms; }));
  Send(slow, test::PushOf({frames[2]}), Take());
  auto replies = Replies(1);
  ASSERT_EQ(replies.size(), 1u);
  ExpectProblem(replies[0], 503, "unavailable");
  EXPECT_EQ(replies[0].detail, "ingest: too many pushes wait; send it again");
  EXPECT_GT(slow.figures().queue_bytes, 0u);
  ASSERT_TRUE(lock->Commit());
  replies = Replies(3);
  ASSERT_EQ(replies.size(), 3u);
  ExpectStored(replies[1], 2);
  EXPECT_EQ(replies[2].detail, "ingest: the database takes long; send it again");
  EXPECT_EQ(Frames(), 1);
  EXPECT_TRUE(Eventually([&] { return slow.figures().queue_bytes == 0; }));
  ExpectStored(slow.Push(test::PushOf(frames)), 4);
}

// Somebody changes a job at length: pushes of other jobs in its group are stored all the same.
TEST_F(LaterPush, AJobThatIsHeldHoldsUpNoOther) {
  FrameMaker held("held", "n0"), other("other", "n1");
  ExpectStored(Push({held.Started()}), 1);
  ExpectStored(Push({other.Started()}), 1);
  IngestOptions options;
  options.group_frames = 2;
  options.group_wait = 60s;
  options.lock_wait = 100ms;
  Ingest together(store_, clock_, options);
  Result<Transaction> lock = Transaction::Begin(*connection_);
  ASSERT_TRUE(lock && connection_->Query("select * from streams where job_id = 1 for update"));
  const std::string waits = held.Ticks(kStartUs);
  Send(together, test::PushOf({waits}), Take());
  Send(together, test::PushOf({other.Ticks(kStartUs)}), Take());
  const auto replies = Replies(2);
  ASSERT_EQ(replies.size(), 2u);
  const bool first = replies[0].status == 200;
  ExpectStored(replies[first ? 0 : 1], 2);
  ExpectProblem(replies[first ? 1 : 0], 503, "unavailable");
  EXPECT_EQ(together.figures().pushes, 1u);
  ASSERT_TRUE(lock->Commit());
  ExpectStored(Push({waits}), 2);
}

TEST_F(LaterPush, OneThatCannotBeToldHoldsNobodyUp) {
  FrameMaker deaf("train", "n0"), good("train", "n1");
  const std::string untold = deaf.Started();
  IngestOptions options;
  options.group_frames = 2;
  options.group_wait = 60s;
  Ingest together(store_, clock_, options);
  Send(together, test::PushOf({untold}), [](const PushReply&) { throw std::bad_alloc(); });
  Send(together, test::PushOf({good.Started()}), Take());
  const auto replies = Replies(1);
  ASSERT_EQ(replies.size(), 1u);
  ExpectStored(replies[0], 1);
  ExpectStored(Push({untold}), 1);
  EXPECT_EQ(Count("select sum(stored) from streams"), 2);
}

}  // namespace
}  // namespace stepscope
