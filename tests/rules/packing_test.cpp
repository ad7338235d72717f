#include "rules/packing.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

TEST(PackedMap, ComesBackAsItWasSaved) {
  PackedMap map;
  for (const std::int64_t at : {0, 3, 128, 70'000}) map[at] = at * 1'000'000'000;
  PackedMap loaded;
  loaded[9] = 9;
  ASSERT_TRUE(loaded.Load(map.Save()).ok());
  EXPECT_EQ(loaded, map);
  ASSERT_TRUE(loaded.Load(PackedMap().Save()).ok());
  EXPECT_TRUE(loaded.empty());
}

TEST(PackedMap, RefusesWhatItNeverSaves) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 63;
  PackedMap map;
  for (const std::vector<std::uint64_t>& numbers : std::vector<std::vector<std::uint64_t>>{
           {1}, {1, kHuge}, {kHuge, 1}, {1, 1, 0, 1}, {kHuge / 2, 1, kHuge / 2, 1}}) {
    EXPECT_FALSE(map.Load(PackNumbers(numbers)).ok()) << numbers.size();
  }
  EXPECT_FALSE(map.Load(Json(7)).ok());
  EXPECT_FALSE(map.Load("not base64").ok());
  EXPECT_FALSE(map.Load(PackNumbers(std::vector<std::uint64_t>(20'000, 1))).ok());
}

}  // namespace
}  // namespace stepscope
