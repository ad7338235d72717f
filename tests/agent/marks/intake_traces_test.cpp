// Trace files that processes pass, and what a window says of the ranks that were asked for them.

#include <gmock/gmock.h>
#include <sys/mman.h>

#include "tests/agent/marks/intake_fixture.h"
#include "tests/support/fake_clock.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing_support::FakeProcess;
using testing_support::RingWriter;

class IntakeTraces : public test::IntakeFixture {
 protected:
  IntakeTraces() {
    auto intake = Intake::Start(options_, time_);
    EXPECT_TRUE(intake.ok()) << intake.error().message;
    intake_ = std::move(intake).value();
  }
  ~IntakeTraces() override { intake_.reset(); }

  static void Pass(FakeProcess& process, std::uint32_t window) {
    const Descriptor file(memfd_create("trace", MFD_CLOEXEC));
    process.Send(MarkTrace{window, 5, 2, 1, 2, 3, ""}, file.get());
  }
  static void RunSteps(RingWriter& ring, int from, int to) {
    for (int step = from; step <= to; ++step) {
      ring.Step(static_cast<std::uint64_t>(step), step * 10ms, 10ms);
    }
  }
  std::vector<std::uint32_t> Windows() {
    IntakeBatch batch = intake_->Drain();
    end_ = batch.window_ended;
    for (const RankRegistration& rank : batch.rank_started) facts_ = rank.facts;
    std::vector<std::uint32_t> windows;
    for (const RankTrace& trace : batch.traces) {
      EXPECT_GE(trace.file.get(), 0);
      windows.push_back(trace.said.window);
    }
    return windows;
  }
  void Keep() {
    SpanWindow window{1, 5, 6, "spans-1", 60s};
    window.ask = "window 2 steps from step 5 for window 1";
    EXPECT_EQ(intake_->KeepSpans("", window), "");
  }
  static MarkCommand CommandFor(FakeProcess& process) {
    const auto message = process.Receive();
    return message ? std::get<MarkCommand>(*message) : MarkCommand{};
  }

  test::FakeClock time_;
  std::optional<SpanWindowEnd> end_;
  std::string facts_;  // newest facts of a rank
};

TEST_F(IntakeTraces, AreHandedOverOnceWithTheirFile) {
  const RingWriter ring;
  const auto process = Connect(3, ring);
  Pass(*process, 7);
  EXPECT_THAT(Windows(), ElementsAre(7));
  EXPECT_THAT(Windows(), ElementsAre());
}

TEST_F(IntakeTraces, ThatNobodyAskedForAreNotTaken) {
  const RingWriter ring;
  const auto process = Connect(3, ring);
  Pass(*process, 0);
  EXPECT_THAT(Windows(), ElementsAre());
  const Descriptor file(memfd_create("trace", MFD_CLOEXEC));
  process->Send(MarkTrace{0, 5, 2, 1, 2, 3, "", "script"}, file.get());
  EXPECT_THAT(Windows(), ElementsAre(0)) << "the script says that it did";
}

TEST_F(IntakeTraces, OfAProcessThatIsGoneAreNotLost) {
  const RingWriter ring;
  auto process = Connect(0, ring);
  Pass(*process, 1);
  process.reset();
  EXPECT_THAT(Windows(), ElementsAre(1));
}

TEST_F(IntakeTraces, OfSeveralProcessesThatAreGoneAreNotLost) {
  const RingWriter ring;
  for (std::uint32_t window = 1; window <= 3; ++window) {
    auto process = Connect(0, ring);
    Pass(*process, window);
  }
  EXPECT_THAT(Windows(), ElementsAre(1, 2, 3));
}

TEST_F(IntakeTraces, MoreThanAFewAndThoseWithoutAFileAreDropped) {
  const RingWriter ring;
  const auto process = Connect(0, ring);
  process->Send(MarkTrace{9, 5, 2, 1, 2, 3, ""});
  for (std::uint32_t window = 1; window <= 20; ++window) Pass(*process, window);
  EXPECT_THAT(Windows(), ElementsAre(1, 2, 3, 4));
  EXPECT_EQ(intake_->Jobs().size(), 1u) << "the process is heard as before";
  EXPECT_THAT(facts_, HasSubstr("dropped: 4 traces wait for the agent, which are the most"));
}

TEST_F(IntakeTraces, AWindowAsksItsRanksAndThoseThatComeLater) {
  RingWriter ring, later_ring;
  const auto process = Connect(0, ring);
  Keep();
  EXPECT_EQ(CommandFor(*process).argument, "window 2 steps from step 5 for window 1");
  FakeProcess later(options_.socket_path);
  later.Hello(1, later_ring);
  EXPECT_EQ(CommandFor(later).command, "window");
}

TEST_F(IntakeTraces, TheEndWaitsForTheAnswersAndSaysThem) {
  RingWriter ring;
  const auto process = Connect(0, ring);
  RunSteps(ring, 0, 3);
  Keep();
  RunSteps(ring, 4, 7);
  for (int drain = 0; drain < 3; ++drain) Windows();
  EXPECT_FALSE(end_) << "the file is being written";
  process->Send(MarkAnswer{CommandFor(*process).id, 1, "memory is short"});
  for (int drain = 0; drain < 3 && !end_; ++drain) Windows();
  ASSERT_TRUE(end_);
  EXPECT_TRUE(end_->recorded) << "its spans are there";
  EXPECT_EQ(end_->reason, "rank 0: operators refused: memory is short");
}

TEST_F(IntakeTraces, ARankThatSaysNothingIsNotWaitedForForEver) {
  RingWriter ring;
  const auto process = Connect(0, ring);
  RunSteps(ring, 0, 3);
  Keep();
  RunSteps(ring, 4, 7);
  for (int drain = 0; drain < 3; ++drain) Windows();
  EXPECT_FALSE(end_);
  time_.Advance(31s);
  for (int drain = 0; drain < 3 && !end_; ++drain) Windows();
  ASSERT_TRUE(end_);
  EXPECT_THAT(end_->reason, HasSubstr("no word of its operators"));
}

}  // namespace
}  // namespace stepscope
