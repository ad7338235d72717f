#include "rules/engine/packing.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(PackNumbers, ComeBackAsTheyWere) {
  const std::vector<std::uint64_t> numbers{0, 1, 127, 128, 70'000, ~std::uint64_t{0}};
  EXPECT_EQ(*UnpackNumbers(PackNumbers(numbers), numbers.size()), numbers);
  EXPECT_TRUE(UnpackNumbers(PackNumbers({}), 0)->empty());
}

TEST(PackNumbers, RefusesWhatItNeverGives) {
  EXPECT_FALSE(UnpackNumbers(PackNumbers({1, 2, 3}), 2).ok());
  EXPECT_FALSE(UnpackNumbers("\x80", 10).ok());
  EXPECT_FALSE(UnpackNumbers(std::string(10, '\xff') + "\x01", 10).ok());
}

}  // namespace
}  // namespace stepscope
