// Processes that pass files which take long to close.

#include <fcntl.h>

#include <utility>

#include "agent/marks/closer.h"
#include "tests/agent/marks/intake_fixture.h"
#include "tests/agent/marks/lingering_socket.h"
#include "tests/support/eventually.h"

namespace stepscope {
namespace {

using testing_support::FakeProcess;
using testing_support::LingeringSocket;
using testing_support::RingWriter;

constexpr Duration kSoon = 10s;  // well below the time for which the socket lingers

class PassedFilesTest : public test::IntakeFixture {
 protected:
  void ExpectHearsSoon(int rank) {
    const RingWriter ring;
    Connect(rank, ring);
    EXPECT_EQ(intake_->Drain().rank_started.size(), 1u);
    EXPECT_LT(std::chrono::steady_clock::now() - begin_, kSoon);
  }

  const SteadyTime begin_ = std::chrono::steady_clock::now();
};

TEST_F(PassedFilesTest, ASocketThatLingersInPlaceOfARingHoldsNobodyUp) {
  Start();
  LingeringSocket slow;
  FakeProcess hostile(options_.socket_path);
  hostile.Send(MarkHello{}, slow.near.get());
  slow.CloseHere();
  EXPECT_NE(Refusal(hostile), "");
  ExpectHearsSoon(1);
}

TEST_F(PassedFilesTest, ASocketThatLingersInAQueueHoldsNobodyUp) {
  Start();
  LingeringSocket slow;
  FakeProcess hostile(options_.socket_path);
  hostile.SendBytes("no hello");
  hostile.Send(MarkFacts{}, slow.near.get());
  hostile.Close();
  slow.CloseHere();
  ExpectHearsSoon(1);
}

TEST_F(PassedFilesTest, MoreFilesThanARingHoldNobodyUp) {
  Start();
  const RingWriter ring;
  LingeringSocket slow;
  auto hostile = Connect(0, ring);
  hostile->Send(MarkFacts{{{"key", "value"}}}, slow.near.get());
  slow.CloseHere();
  intake_->Drain();
  ExpectHearsSoon(1);
}

TEST_F(PassedFilesTest, AnIntakeEndsWhileASocketWaitsUnaccepted) {
  Start();
  LingeringSocket slow;
  FakeProcess hostile(options_.socket_path);
  hostile.Send(MarkHello{}, slow.near.get());
  hostile.Close();
  slow.CloseHere();
  intake_.reset();
  EXPECT_LT(std::chrono::steady_clock::now() - begin_, kSoon);
}

TEST(Closer, ClosesEverythingOfAUser) {
  const Closer closer;
  LingeringSocket slow;
  closer.Close(7, std::move(slow.near));
  for (int i = 0; i < 100; ++i)
    closer.Close(7, Descriptor(open("/dev/null", O_RDONLY | O_CLOEXEC)));
  EXPECT_TRUE(Eventually([&] { return closer.Waiting(7) == 0; }));
  EXPECT_EQ(closer.Waiting(8), 0u);
}

}  // namespace
}  // namespace stepscope
