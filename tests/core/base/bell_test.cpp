#include "core/base/bell.h"

#include <gtest/gtest.h>

#include <thread>

namespace stepscope {
namespace {

TEST(Bell, KeepsWhatWasRungBeforeAnybodyWaited) {
  Bell bell;
  bell.Ring();
  bell.Ring();
  bell.Wait();
  EXPECT_TRUE(bell.WaitFor(0ns));
  EXPECT_FALSE(bell.WaitFor(0ns));
}

TEST(Bell, ForgetsWhatItIsToldToForget) {
  Bell bell;
  bell.Ring();
  bell.Ring();
  bell.Clear();
  EXPECT_FALSE(bell.WaitFor(1ms));
}

TEST(Bell, WakesAnotherThread) {
  Bell there, back;
  std::jthread other([&] {
    there.Wait();
    back.Ring();
  });
  there.Ring();
  EXPECT_TRUE(back.WaitFor(1min));
}

}  // namespace
}  // namespace stepscope
