// No error of accept() ends the service.

#include <fcntl.h>
#include <sys/resource.h>

#include "core/base/descriptor.h"
#include "core/base/log.h"
#include "tests/server/edge/edge_test.h"

namespace stepscope {
namespace {

class AcceptTest : public EdgeTest {
 protected:
  // UndefinedBehaviorSanitizer needs descriptors itself, when it meets a class for the first time.
  AcceptTest() : EdgeTest({.workers = 1, .most_per_address = 0}) {
    EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200);
    EXPECT_TRUE(Eventually([&] { return edge_.figures().open() == 0; }));
    LogDebug("accept: {}", "nothing yet");
  }

  // This process has no descriptor left when it ends.
  void UseUp() {
    while (true) {
      Descriptor one(open("/dev/null", O_RDONLY | O_CLOEXEC));
      if (!one) return;
      used_.push_back(std::move(one));
    }
  }

  // A bound that is reached soon.
  struct FewDescriptors {
    FewDescriptors() {
      getrlimit(RLIMIT_NOFILE, &before);
      const rlimit few{300, before.rlim_max};
      setrlimit(RLIMIT_NOFILE, &few);
    }
    ~FewDescriptors() { setrlimit(RLIMIT_NOFILE, &before); }
    rlimit before{};
  } few_;
  std::vector<Descriptor> used_;
};

TEST_F(AcceptTest, OutOfDescriptorsASilentConnectionMakesRoom) {
  RawClient silent(edge_.port());
  EXPECT_TRUE(Eventually([&] { return Count(ConnectionState::kIdle) == 1; }));
  UseUp();
  used_.pop_back();  // for the client's end
  RawClient client(edge_.port());
  client.Send(Get("/echo"));
  EXPECT_EQ(StatusOf(client.ReadAnswer()), 200);
  EXPECT_TRUE(silent.IsClosed());
  EXPECT_GE(edge_.figures().accept_failures, 1U);
}

TEST_F(AcceptTest, WithNobodyToEndTheNewcomerIsToldAndTheServiceGoesOn) {
  RawClient working(edge_.port());
  working.Send(Get("/hold"));
  EXPECT_TRUE(AreHeld(1));
  UseUp();
  used_.pop_back();
  {
    RawClient client(edge_.port());
    EXPECT_TRUE(client.IsClosed());
  }
  used_.clear();
  OpenGate();
  EXPECT_EQ(StatusOf(working.ReadAnswer()), 200);
  EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200);
}

TEST_F(AcceptTest, ConnectionsThatBreakBeforeTheyAreAcceptedHarmNobody) {
  for (int count = 0; count < 200; ++count) RawClient(edge_.port()).Break();
  EXPECT_EQ(StatusOf(Ask(Get("/echo"))), 200);
}

}  // namespace
}  // namespace stepscope
