#include "rules/engine/firing_time.h"

#include <gtest/gtest.h>

#include "rules/engine/state.h"

namespace stepscope {
namespace {

Time At(int seconds) {
  return Time(std::chrono::seconds(seconds));
}

TEST(FiringTime, CountsWhatALaterStretchAddsBeforeTheEarliest) {
  FiringTime time;
  time.Saw(At(0), At(10'000));
  time.Fired(At(5000), At(5500));
  EXPECT_DOUBLE_EQ(time.Share(), 0.05);
  FiringTime loaded;
  ASSERT_TRUE(LoadFields(SaveFields(time), loaded).ok());
  loaded.Fired(At(1000), At(6000));
  EXPECT_DOUBLE_EQ(loaded.Share(), 0.5);
  loaded.Fired(At(1000), At(6100));
  EXPECT_DOUBLE_EQ(loaded.Share(), 0.51);
}

}  // namespace
}  // namespace stepscope
