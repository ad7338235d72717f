#include "server/trace/intervals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace stepscope {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

TEST(UnionOf, JoinsWhatTouchesAndDropsWhatIsEmpty) {
  EXPECT_THAT(UnionOf({{5, 9}, {0, 2}, {2, 4}, {6, 7}, {11, 11}}),
              ElementsAre(TimeRange{0, 4}, TimeRange{5, 9}));
}

TEST(Difference, CutsPiecesOut) {
  EXPECT_THAT(Difference({{0, 10}, {20, 30}}, {{2, 3}, {5, 22}, {29, 40}}),
              ElementsAre(TimeRange{0, 2}, TimeRange{3, 5}, TimeRange{22, 29}));
  EXPECT_THAT(Difference({{0, 10}}, {{0, 10}}), IsEmpty());
}

TEST(GapsOf, AndTheRangesAddUp) {
  const TimeRanges ranges{{2, 4}, {6, 20}};
  EXPECT_THAT(GapsOf(ranges, {0, 10}), ElementsAre(TimeRange{0, 2}, TimeRange{4, 6}));
  EXPECT_EQ(LengthWithin(ranges, {0, 10}) + LengthOf(GapsOf(ranges, {0, 10})), 10);
}

}  // namespace
}  // namespace stepscope
