#include "core/base/nearest.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr std::string_view kKnown[] = {"node_cpu_percent", "cpu_util_percent", "load_1m",
                                       "LowGPUUtilization", "IdleGPU"};
using Words = std::vector<std::string_view>;

TEST(NearestWords, HoldTheWordOrAreAFewEditsAway) {
  EXPECT_EQ(NearestWords(kKnown, "cpu"), (Words{"node_cpu_percent", "cpu_util_percent"}));
  EXPECT_EQ(NearestWords(kKnown, "lowgpuutilisation"), Words{"LowGPUUtilization"});
  EXPECT_EQ(NearestWords(kKnown, "IdelGPU"), Words{"IdleGPU"});
  EXPECT_EQ(NearestWords(kKnown, "percent", 1), Words{"node_cpu_percent"});
}

TEST(NearestWords, AreNoneWhereNothingIsNear) {
  for (const std::string& word : {std::string(), std::string("zebra"), std::string(10'000, 'x'),
                                  std::string("\xff\x00\xfe", 3)}) {
    EXPECT_EQ(NearestWords(kKnown, word), Words()) << word.size();
  }
}

TEST(DidYouMean, IsAQuestion) {
  EXPECT_EQ(DidYouMean(Words{}), "");
  EXPECT_EQ(DidYouMean(Words{"a"}), "; did you mean a?");
  EXPECT_EQ(DidYouMean(Words{"a", "b", "c"}), "; did you mean a, b or c?");
}

}  // namespace
}  // namespace stepscope
