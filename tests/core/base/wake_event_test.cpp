#include "core/base/wake_event.h"

#include <gtest/gtest.h>

#include <thread>

namespace stepscope {
namespace {

TEST(WakeEvent, KeepsWhatWasRungBeforeAnybodyWaited) {
  WakeEvent bell;
  bell.Ring();
  bell.Ring();
  bell.Wait();
  EXPECT_TRUE(bell.WaitFor(0ns));
  EXPECT_FALSE(bell.WaitFor(0ns));
}

TEST(WakeEvent, ForgetsWhatItIsToldToForget) {
  WakeEvent bell;
  bell.Ring();
  bell.Ring();
  bell.Clear();
  EXPECT_FALSE(bell.WaitFor(1ms));
}

TEST(WakeEvent, WakesAnotherThread) {
  WakeEvent there, back;
  std::jthread other([&] {
    there.Wait();
    back.Ring();
  });
  there.Ring();
  EXPECT_TRUE(back.WaitFor(1min));
}

}  // namespace
}  // namespace stepscope
