#include "server/ingest/check/decimals.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(DecimalsOf, CountsWhatTheNumberNeeds) {
  const std::pair<const char*, int> cases[] = {{"41.27", 2},
                                               {"41.270", 2},
                                               {"-0.5", 1},
                                               {"0.0", 0},
                                               {"-0.0", 0},
                                               {"1.0", 0},
                                               {"1200.0", 0},
                                               {"1e3", 0},
                                               {"1.5e3", 0},
                                               {"1.2345e2", 2},
                                               {"4127e-2", 2},
                                               {"100e-2", 0},
                                               {"1E-07", 7},
                                               {"2.5e-1", 2},
                                               {"0.30000000000000004", 17},
                                               {"1e-99999999999", 10'000},
                                               {"0e-99999999999", 0},
                                               {"1e99999999999", 0}};
  for (const auto& [number, decimals] : cases) EXPECT_EQ(DecimalsOf(number), decimals) << number;
}

TEST(ChooseScale, KeepsWhatIsWritten) {
  EXPECT_EQ(ChooseScale(0, 9e18), 0);
  EXPECT_EQ(ChooseScale(2, 41.27), 2);
  EXPECT_EQ(ChooseScale(9, 1e6), 9);
}

TEST(ChooseScale, KeepsNineDigitsWhereThatIsTooMuch) {
  EXPECT_EQ(ChooseScale(17, 0.30000000000000004), 9);
  EXPECT_EQ(ChooseScale(15, 2.302585092994046), 8);
  EXPECT_EQ(ChooseScale(12, 12345.678901234567), 4);
  EXPECT_EQ(ChooseScale(3, 1e15), 0);    // 10^18 is beyond 2^53
  EXPECT_EQ(ChooseScale(20, 1e-15), 9);  // and becomes 0
  EXPECT_EQ(ChooseScale(20, 0), 0);
}

}  // namespace
}  // namespace stepscope
