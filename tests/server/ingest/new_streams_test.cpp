// Streams that nobody knew before: beside others in one group, and in two services at once.

#include <gtest/gtest.h>

#include <thread>

#include "core/base/text.h"
#include "tests/server/ingest/ingest_fixture.h"

namespace stepscope {
namespace {

using test::FrameMaker;
using test::kStartUs;

class NewStreams : public IngestTest {};

// Known streams and new ones, of a job that is known and one that is made, in one transaction.
TEST_F(NewStreams, JoinAGroupOfOldOnes) {
  constexpr std::size_t kAgents = 6;
  std::vector<FrameMaker> agents;
  for (std::size_t i = 0; i < kAgents; ++i) {
    agents.emplace_back(i % 3 == 2 ? "other" : "train", Format("n{}", i % 2));
  }
  ExpectStored(Push({agents[3].Started()}), 1);
  ExpectStored(Push({agents[4].Started()}), 1);
  IngestOptions options;
  options.group_frames = 2 * kAgents;
  options.group_wait = options.answer_within = 60s;
  Ingest together(store_, clock_, options);
  std::vector<std::jthread> pushes;
  for (std::size_t i = 0; i < kAgents; ++i) {
    pushes.emplace_back([&, i] {
      const bool known = i == 3 || i == 4;
      const std::string first = known ? agents[i].Ticks(kStartUs) : agents[i].Started();
      const std::string second = agents[i].Ticks(kStartUs + 2'000'000);
      ExpectStored(together.Push(test::PushOf({first, second})), known ? 3 : 2);
    });
  }
  pushes.clear();
  EXPECT_EQ(together.figures().groups, 1u);
  EXPECT_EQ(Frames(), 8);
  EXPECT_EQ(Count("select count(*) from streams"), 6);
  EXPECT_EQ(Count("select sum(stored) from streams"), 14);
  EXPECT_EQ(Count("select count(*) from nodes"), 4);
  EXPECT_EQ(Count("select count(*) from jobs"), 2);
}

// Each agent is new to both, and both have its frames.
TEST_F(NewStreams, OfTwoServicesAreMadeOnce) {
  constexpr std::size_t kAgents = 16;
  Database other_store(database_.url(), 4);
  Ingest other(other_store, clock_, {});
  std::vector<std::jthread> pushes;
  for (std::size_t i = 0; i < kAgents; ++i) {
    FrameMaker agent("train", Format("n{}", i));
    const std::string push = test::PushOf({agent.Started(), agent.Ticks(kStartUs)});
    for (Ingest* ingest :
         {i % 2 == 0 ? ingest_.get() : &other, i % 2 == 0 ? &other : ingest_.get()}) {
      pushes.emplace_back([this, ingest, push] { ExpectStored(ingest->Push(push), 2); });
    }
  }
  pushes.clear();
  EXPECT_EQ(Frames(), kAgents);
  EXPECT_EQ(Count("select count(*) from streams where stored = 2"), kAgents);
  EXPECT_EQ(Count("select count(*) from nodes"), kAgents);
}

}  // namespace
}  // namespace stepscope
