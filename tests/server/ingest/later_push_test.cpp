// Pushes whose senders do not wait on the thread that brings them.

#include <gtest/gtest.h>

#include "core/base/guarded.h"
#include "core/base/text.h"
#include "tests/server/ingest/ingest_fixture.h"

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
    together.Push(test::PushOf({agent.Started()}), "", Take());
  }
  for (const PushReply& reply : Replies(kAgents)) ExpectStored(reply, 1);
  EXPECT_EQ(together.figures().groups, 1u);
  EXPECT_EQ(Count("select count(*) from streams"), static_cast<int>(kAgents));
}

TEST_F(LaterPush, WhatCannotBeReadIsRefusedAtOnce) {
  ingest_->Push("nonsense", "", Take());
  const auto replies = Replies(1);
  ASSERT_EQ(replies.size(), 1u);
  ExpectProblem(replies[0], 400, "bad-frame");
}

TEST_F(LaterPush, WhatWaitsIsAnsweredWhenItGoes) {
  FrameMaker agent("train");
  {
    IngestOptions options;
    options.group_wait = 60s;
    Ingest ending(store_, clock_, options);
    ending.Push(test::PushOf({agent.Started(), agent.Ticks(kStartUs)}), "", Take());
  }
  const auto replies = Replies(1);
  ASSERT_EQ(replies.size(), 1u);
  ExpectStored(replies[0], 2);
  EXPECT_EQ(Frames(), 1);
}

TEST_F(LaterPush, OneThatCannotBeToldHoldsNobodyUp) {
  FrameMaker deaf("train", "n0"), good("train", "n1");
  const std::string untold = deaf.Started();
  IngestOptions options;
  options.group_frames = 2;
  options.group_wait = 60s;
  Ingest together(store_, clock_, options);
  together.Push(test::PushOf({untold}), "", [](const PushReply&) { throw std::bad_alloc(); });
  together.Push(test::PushOf({good.Started()}), "", Take());
  const auto replies = Replies(1);
  ASSERT_EQ(replies.size(), 1u);
  ExpectStored(replies[0], 1);
  ExpectStored(Push({untold}), 1);
  EXPECT_EQ(Count("select sum(stored) from streams"), 2);
}

}  // namespace
}  // namespace stepscope
