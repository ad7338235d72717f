#include "agent/app/obey.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

Duration Now(const Guarded<Duration>& interval) {
  return interval.Read([](Duration value) { return value; });
}

TEST(Obey, ChangesTheInterval) {
  Guarded<Duration> interval(500ms);
  EXPECT_EQ(Obey({"interval-1", "interval", 250}, Allowed{}, interval), "");
  EXPECT_EQ(Now(interval), 250ms);
}

TEST(Obey, RefusesWhatItWasNotStartedWith) {
  Guarded<Duration> interval(500ms);
  EXPECT_EQ(Obey({"interval-1", "interval", 250}, *ParseAllowed("none"), interval),
            "the agent was started with --allow none");
  EXPECT_EQ(Now(interval), 500ms);
}

TEST(Obey, RefusesWhatItDoesNotKnowAndWhatIsOutOfRange) {
  Guarded<Duration> interval(500ms);
  EXPECT_EQ(Obey({"a", "stop", 0}, Allowed{}, interval), "this agent does not know 'stop'");
  EXPECT_EQ(Obey({"a", "interval", 99}, Allowed{}, interval), "99 ms is not between 100 and 60000");
  EXPECT_NE(Obey({"a", "interval", INT64_MAX}, Allowed{}, interval), "");
  EXPECT_NE(Obey({"a", "interval", 0}, Allowed{}, interval), "");
  EXPECT_EQ(Now(interval), 500ms);
}

TEST(Allow, IsAWordOfTwo) {
  EXPECT_TRUE(ParseAllowed("interval")->interval);
  EXPECT_FALSE(ParseAllowed("none")->interval);
  for (const char* text : {"", "stop", "interval,none", "Interval"}) {
    EXPECT_FALSE(ParseAllowed(text)) << text;
  }
}

}  // namespace
}  // namespace stepscope
