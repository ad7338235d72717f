#include <gtest/gtest.h>

#include "core/base/detached_thread.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"

namespace stepscope {
namespace {

TEST(Guarded, WakesWhoeverWaitsForAChange) {
  Guarded<int> count(0);
  Worker counter("count", [&](std::stop_token) {
    for (int i = 0; i < 100; ++i) count.Change([](int& value) { ++value; });
  });
  EXPECT_TRUE(count.Wait({}, 10s, [](const int& value) { return value == 100; }));
}

TEST(Guarded, StopsWaitingWhenAskedTo) {
  Guarded<bool> ready(false);
  bool held = true;
  {
    Worker waiter("wait", [&](std::stop_token stop) {
      held = ready.Wait(stop, 1h, [](const bool& value) { return value; });
    });
  }
  EXPECT_FALSE(held);
}

TEST(Worker, EndsASleepWhenItIsDestroyed) {
  bool slept = true;
  {
    Worker sleeper("sleep", [&](std::stop_token stop) { slept = SleepFor(stop, 1h); });
  }
  EXPECT_FALSE(slept);
}

TEST(StartDetachedThread, LeavesTheStarterAtOnce) {
  const auto gate = std::make_shared<Guarded<bool>>(false);
  const auto ended = std::make_shared<Guarded<bool>>(false);
  ASSERT_TRUE(StartDetachedThread("left-behind", [gate, ended] {
    gate->Wait({}, 10s, [](bool open) { return open; });
    ended->Change([](bool& value) { value = true; });
  }));
  EXPECT_FALSE(ended->Read([](bool value) { return value; }));
  gate->Change([](bool& open) { open = true; });
  EXPECT_TRUE(ended->Wait({}, 10s, [](bool value) { return value; }));
}

}  // namespace
}  // namespace stepscope
