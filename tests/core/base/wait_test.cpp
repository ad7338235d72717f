#include "core/base/wait.h"

#include <gtest/gtest.h>
#include <poll.h>

#include "core/base/clock.h"
#include "core/base/event.h"

namespace stepscope {
namespace {

TEST(WaitFor, SaysWhatCame) {
  Event came;
  came.Set();
  const auto events = WaitFor(came.descriptor(), POLLIN, {SystemClock().Steady() + 10s});
  ASSERT_TRUE(events);
  EXPECT_EQ(*events, POLLIN);
}

TEST(WaitFor, TakesNothingThatComesLate) {
  Event came;
  came.Set();
  EXPECT_EQ(WaitFor(came.descriptor(), POLLIN, {SteadyTime{}}).error().code, Code::kUnavailable);
}

TEST(WaitFor, EndsAtItsDeadline) {
  const Event none;
  const auto late = WaitFor(none.descriptor(), POLLIN, {SystemClock().Steady() + 2ms});
  EXPECT_EQ(late.error().message, "not done within its time");
}

TEST(WaitFor, StopsWhateverHasCome) {
  Event came, stop;
  came.Set();
  stop.Set();
  const SteadyTime soon = SystemClock().Steady() + 10s;
  EXPECT_EQ(WaitFor(came.descriptor(), POLLIN, {soon, stop.descriptor()}).error().message,
            "stopped");
}

}  // namespace
}  // namespace stepscope
