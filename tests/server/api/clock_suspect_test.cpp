// describe-job names the nodes whose clock is off, or was.

#include "tests/server/api/api_test.h"
#include "tests/support/frames.h"

namespace stepscope {
namespace {

constexpr std::int64_t kHourUs = 3'600 * kSecondUs;

class ClockSuspectTest : public ApiTest {
 protected:
  Json PushAndDescribe(std::int64_t offset_us) {
    agent_.head.clock_offset_us = offset_us;
    agent_.head.round_trip_us = 900;
    Push(test::PushOf({agent_.Ticks(kStartUs)}));
    return service_.GetJson("/api/v1/jobs/mlp")["nodes"][0]["clock_suspect"];
  }
  test::FrameMaker agent_{"mlp"};
};

TEST_F(ClockSuspectTest, ANodeSaysSinceWhenAndHowFarItsClockIsOff) {
  Push(test::PushOf({agent_.Started()}));
  EXPECT_EQ(PushAndDescribe(7), nullptr);
  const Json off = PushAndDescribe(-kHourUs);
  EXPECT_EQ(off["offset_us"], -kHourUs);
  EXPECT_EQ(off["until"], nullptr);
  EXPECT_EQ(off["until_us"], nullptr);
  EXPECT_EQ(off["since"], ToRfc3339(FromMicros(off["since_us"].get<std::int64_t>())));
}

TEST_F(ClockSuspectTest, AClockThatWasSetRightWasOffUntilThen) {
  Push(test::PushOf({agent_.Started()}));
  const Json off = PushAndDescribe(kHourUs), over = PushAndDescribe(7);
  EXPECT_EQ(over["since_us"], off["since_us"]);
  EXPECT_EQ(over["offset_us"], kHourUs);
  EXPECT_EQ(over["until_us"], off["since_us"]) << "the one push that said so";
  const Json again = PushAndDescribe(2 * kHourUs);
  EXPECT_EQ(again["since_us"], off["since_us"]);
  EXPECT_EQ(again["until_us"], nullptr);
  EXPECT_EQ(again["offset_us"], 2 * kHourUs);
}

}  // namespace
}  // namespace stepscope
