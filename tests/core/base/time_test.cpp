#include "core/base/time.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(Rfc3339, GoesBothWays) {
  const Time time = FromMicros(1'795'205'614'123'456);
  EXPECT_EQ(ToRfc3339(time), "2026-11-20T20:13:34.123456Z");
  EXPECT_EQ(*ParseRfc3339("2026-11-20T20:13:34.123456Z"), time);
  EXPECT_EQ(*ParseRfc3339("2026-11-20T22:13:34.123456+02:00"), time);
}

TEST(Rfc3339, RefusesWhatIsNoTime) {
  for (const char* text :
       {"", "2026-11-20", "2026-11-20T20:13:34", "2026-02-30T00:00:00Z", "2026-11-20T24:00:00Z",
        "2026-11-20T20:13:34.Z", "2026-11-20T20:13:34+2:00", "1969-12-31T23:59:59Z",
        "2026-11-20T20:13:34Z "}) {
    EXPECT_FALSE(ParseRfc3339(text).ok()) << text;
  }
}

TEST(ParseDuration, DemandsTheUnit) {
  EXPECT_EQ(*ParseDuration("500ms"), 500ms);
  EXPECT_EQ(*ParseDuration("0.5s"), 500ms);
  EXPECT_EQ(*ParseDuration("2m"), 2min);
  for (const char* text : {"", "500", "ms", "-1s", "1.2.3s", "1 s", "1e3s", "99999999999h"}) {
    EXPECT_FALSE(ParseDuration(text).ok()) << text;
  }
}

TEST(DurationText, TakesTheLargestExactUnit) {
  EXPECT_EQ(ToText(500ms), "500 ms");
  EXPECT_EQ(ToText(90s), "90 s");
  EXPECT_EQ(ToText(10min), "10 min");
  EXPECT_EQ(ToText(Duration{}), "0 s");
}

}  // namespace
}  // namespace stepscope
