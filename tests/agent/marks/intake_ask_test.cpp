// Commands of the agent to processes, and their answers.

#include <gtest/gtest.h>

#include "core/base/json.h"
#include "tests/agent/marks/intake_fixture.h"

namespace stepscope {
namespace {

using testing_support::FakeProcess;
using testing_support::RingWriter;

class IntakeAsk : public test::IntakeFixture {
 protected:
  static MarkCommand CommandFor(FakeProcess& process) {
    const auto message = process.Receive();
    return message ? std::get<MarkCommand>(*message) : MarkCommand{};
  }
  // The newest value of a rank's fact; "" where it has none.
  std::string Fact(int rank, const char* name) {
    for (const RankRegistration& started : intake_->Drain().rank_started) {
      facts_[started.rank] = *ParseJson(started.facts);
    }
    return facts_[rank].value(name, "");
  }
  std::map<int, Json> facts_;
};

TEST_F(IntakeAsk, TellsEachProcessAndSetsItsControlWord) {
  Start();
  RingWriter first_ring, second_ring;
  const auto first = Connect(0, first_ring), second = Connect(1, second_ring);

  EXPECT_EQ(intake_->Ask("", "window", "5 steps"), 2u);

  for (FakeProcess* process : {first.get(), second.get()}) {
    const MarkCommand command = CommandFor(*process);
    EXPECT_EQ(command.id, 1u);
    EXPECT_EQ(command.command, "window");
    EXPECT_EQ(command.argument, "5 steps");
  }
  EXPECT_EQ(first_ring.words[kRingControlWord], 1u);
  EXPECT_EQ(second_ring.words[kRingControlWord], 1u);
}

TEST_F(IntakeAsk, AnAnswerIsAFactOfTheRank) {
  Start();
  RingWriter ring, other_ring;
  const auto process = Connect(3, ring), other = Connect(4, other_ring);
  intake_->Ask("", "window", "5 steps");
  process->Send(MarkAnswer{CommandFor(*process).id, 1, "not today"});
  other->Send(MarkAnswer{CommandFor(*other).id, 0, ""});
  EXPECT_EQ(Fact(3, "window"), "refused: not today (5 steps)");
  EXPECT_EQ(Fact(4, "window"), "done (5 steps)");
}

TEST_F(IntakeAsk, OnlyTheNewestCommandIsWaitedFor) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  process->Send(MarkAnswer{1, 1, "nobody asked"});
  EXPECT_EQ(Fact(0, "window"), "");
  intake_->Ask("", "window", "first");
  intake_->Ask("", "window", "second");
  EXPECT_EQ(ring.words[kRingControlWord], 2u);
  process->Send(MarkAnswer{1, 1, "to the first"});
  EXPECT_EQ(Fact(0, "window"), "");
  process->Send(MarkAnswer{2, 1, "to the second"});
  process->Send(MarkAnswer{2, 0, "twice"});
  EXPECT_EQ(Fact(0, "window"), "refused: to the second (second)");
}

TEST_F(IntakeAsk, AProcessThatDoesNotListenIsNotWaitedFor) {
  Start();
  RingWriter ring;
  const auto process = Connect(0, ring);
  std::size_t told = 0;
  while (intake_->Ask("", "window", std::string(200, 'x')) == 1) ASSERT_LT(++told, 100'000u);
  EXPECT_GT(told, 0u);
  ring.Step(0, 0ms, 10ms);
  EXPECT_EQ(intake_->Drain().marks.size(), 1u);
}

TEST_F(IntakeAsk, NobodyIsAskedOfAJobThatIsNotThere) {
  Start();
  EXPECT_EQ(intake_->Ask("", "window", ""), 0u);
  EXPECT_EQ(intake_->Ask("other", "window", ""), 0u);
}

}  // namespace
}  // namespace stepscope
