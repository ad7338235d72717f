#include "rules/engine/firing_time.h"

#include <gtest/gtest.h>

#include "rules/engine/state.h"

namespace stepscope {
namespace {

Time AtSecond(int seconds) {
  return Time(std::chrono::seconds(seconds));
}

TEST(FiringTime, CountsWhatALaterStretchAddsBeforeTheEarliest) {
  FiringTime time;
  time.Saw(AtSecond(0), AtSecond(10'000));
  time.Fired(AtSecond(5000), AtSecond(5500));
  EXPECT_DOUBLE_EQ(time.Share(), 0.05);
  FiringTime loaded;
  ASSERT_TRUE(LoadFields(SaveFields(time), loaded).ok());
  loaded.Fired(AtSecond(1000), AtSecond(6000));
  EXPECT_DOUBLE_EQ(loaded.Share(), 0.5);
  loaded.Fired(AtSecond(1000), AtSecond(6100));
  EXPECT_DOUBLE_EQ(loaded.Share(), 0.51);
}

}  // namespace
}  // namespace stepscope
