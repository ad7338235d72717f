// Which ticks blocks have room for, when they go on as they came.

#include "server/ingest/check/block_capacity.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "server/store/ticks/blocks.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBegin = 1'795'205'400'000'000;  // the begin of a window

std::vector<std::int64_t> Every(std::int64_t us, std::int64_t count, std::int64_t from_us = 0) {
  std::vector<std::int64_t> at_us;
  for (std::int64_t i = 0; i < count; ++i) at_us.push_back(kBegin + from_us + i * us);
  return at_us;
}
// Nothing, or the metric and what is said about it. Of devices that have values at all times.
std::string FaultOf(const std::vector<std::int64_t>& at_us, std::size_t devices) {
  BlockCapacity density(at_us);
  for (std::size_t i = 0; i < devices; ++i) density.Add("user.a", {});
  const auto fault = density.Find();
  return fault ? fault->metric + ": " + fault->detail : "";
}

// A device for each rank and a value for each step, each at an instant of its own: in each burst
// the ranks are so far apart, and every other time the other way round.
std::string FaultOfRanks(std::int64_t ranks, std::int64_t apart_us, std::int64_t step_us,
                         std::int64_t steps) {
  std::vector<std::int64_t> at_us;
  std::vector<std::int64_t> rank_of;
  for (std::int64_t step = 0; step < steps; ++step) {
    for (std::int64_t i = 0; i < ranks; ++i) {
      at_us.push_back(kBegin + step * step_us + i * apart_us);
      rank_of.push_back(step % 2 == 0 ? i : ranks - 1 - i);
    }
  }
  BlockCapacity density(at_us);
  for (std::int64_t rank = 0; rank < ranks; ++rank) {
    std::vector<std::uint8_t> present(at_us.size());
    for (std::size_t i = 0; i < at_us.size(); ++i) present[i] = rank_of[i] == rank ? 1 : 0;
    density.Add("user.loss", present);
  }
  const auto fault = density.Find();
  return fault ? fault->metric + ": " + fault->detail : "";
}

TEST(BlockCapacity, TakesRanksThatSendEachStepWithinMilliseconds) {
  EXPECT_EQ(FaultOfRanks(300, 160, 10'000'000, 5), "");    // 18,000 rows in 600 s
  EXPECT_EQ(FaultOfRanks(300, 160, 5'000'000, 20), "");    // 36,000 of 55,738
  EXPECT_EQ(FaultOfRanks(300, 5'000, 10'000'000, 5), "");  // within 1.5 s
}

TEST(BlockCapacity, RefusesRanksThatSendMoreInAllThanFits) {
  EXPECT_EQ(FaultOfRanks(300, 160, 2'000'000, 20),
            "user.loss: more than 55738 instants in 600 s cannot be kept of 300 devices");
}

TEST(BlockCapacity, TakesWhatIsOverWithinASecond) {
  EXPECT_EQ(FaultOf(Every(1'000, 100), 100), "");
  EXPECT_EQ(FaultOf(Every(1, 512), 1), "");
  EXPECT_EQ(FaultOf(Every(1, 512), 1'000), "");
  EXPECT_EQ(FaultOf(Every(100, 9'000), 1), "") << "0.9 s";
}

TEST(BlockCapacity, RefusesWhatIsTooOftenForASecond) {
  const std::string every = "more than 1048576 instants in 600 s cannot be kept";
  EXPECT_EQ(FaultOf(Every(100, 10'001), 1), "user.a: " + every);
  EXPECT_EQ(FaultOf(Every(100, 150'000), 1), ": " + every) << "of whatever it is";
  EXPECT_EQ(FaultOf(Every(573, 20'000), 1), "");
  EXPECT_EQ(FaultOf(Every(572, 20'000), 1), ": " + every);
}

TEST(BlockCapacity, RefusesMoreDevicesThanFitAtTheirInterval) {
  EXPECT_EQ(FaultOf(Every(500'000, 3), 20'000),
            "user.a: more than 838 instants in 600 s cannot be kept of 20000 devices");
  EXPECT_NE(FaultOf(Every(500'000, 3), 13'981), "");
  EXPECT_EQ(FaultOf(Every(500'000, 3), 13'980), "") << "1200 rows are what there is room for";
  EXPECT_EQ(FaultOf(Every(500'000, 1'200), 13'980), "") << "and all of them";
  EXPECT_EQ(FaultOf(Every(500'000, 2), 20'000), "") << "half a second";
}

// At 100 Hz a second of 2,000 devices is refused; here none lasts so long.
TEST(BlockCapacity, CountsWhatAWindowHoldsHoweverShortItLasted) {
  EXPECT_EQ(FaultOf(Every(1, 8'384), 2'000), "");
  EXPECT_EQ(FaultOf(Every(1, 8'385), 2'000),
            "user.a: more than 8384 instants in 600 s cannot be kept of 2000 devices");
  EXPECT_EQ(FaultOf(Every(1, 8'385, kBlockWindowUs - 1), 2'000), "") << "in two windows";
}

TEST(BlockCapacity, AsksEachDeviceAndEachMetric) {
  const std::vector<std::int64_t> at_us = Every(1'000, 2'000);
  std::vector<std::uint8_t> seldom(at_us.size(), 0);
  seldom[0] = 1;
  BlockCapacity one(at_us), two(at_us);
  for (int i = 0; i < 100; ++i) one.Add("user.a", i == 50 ? std::vector<std::uint8_t>() : seldom);
  ASSERT_TRUE(one.Find()) << "a device that is sampled so often beside many that are not";
  for (int i = 0; i < 99; ++i) two.Add("user.a", seldom);
  two.Add("user.b", {});
  EXPECT_FALSE(two.Find());
}

TEST(BlockCapacity, DoesNotMindOrderAndTimesThatStandTwice) {
  for (const std::int64_t us : {572, 573}) {
    std::vector<std::int64_t> at_us = Every(us, 20'000);
    const std::string expected = FaultOf(at_us, 1);
    std::ranges::reverse(at_us);
    EXPECT_EQ(FaultOf(at_us, 1), expected);
    const std::vector<std::int64_t> once = at_us;
    at_us.insert(at_us.end(), once.begin(), once.end());
    EXPECT_EQ(FaultOf(at_us, 1), expected);
  }
  EXPECT_EQ(FaultOf(std::vector<std::int64_t>(10'000, kBegin), 2'000), "") << "one instant";
}

TEST(BlockCapacity, WhatPassesPassesInPieces) {
  std::vector<std::int64_t> at_us;
  for (std::int64_t i = 0; i < 60; ++i) {
    for (const std::int64_t at : Every(1'000 + i * 7, 150, i * 1'000'000)) at_us.push_back(at);
  }
  ASSERT_EQ(FaultOf(at_us, 80), "");
  for (std::size_t one_of : {2, 3, 7}) {
    for (std::size_t from = 0; from < at_us.size(); from += 997) {
      std::vector<std::int64_t> piece;
      for (std::size_t i = from; i < at_us.size(); ++i) {
        if (i % one_of != 0) piece.push_back(at_us[i]);
      }
      EXPECT_EQ(FaultOf(piece, 80), "") << one_of << " " << from;
      EXPECT_EQ(FaultOf(piece, 60), "");
    }
  }
}

// AreFarApart only saves the work of a BlockCapacity.
TEST(AreFarApart, IsNeverTrueOfWhatIsRefused) {
  int far = 0;
  for (const std::int64_t us : {1, 571, 572, 573, 1'000, 10'000, 100'000, 499'999, 500'000}) {
    for (const std::size_t devices : {1, 15, 16, 300, 2'795, 2'796, 13'980, 13'981, 20'000}) {
      const std::vector<std::int64_t> at_us = Every(us, 60);
      if (!AreFarApart(at_us, devices + 1)) continue;
      ++far;
      EXPECT_EQ(FaultOf(at_us, devices), "") << us << " " << devices;
    }
  }
  EXPECT_GT(far, 20);
  EXPECT_FALSE(AreFarApart(Every(500'000, 3), 13'982));
  EXPECT_TRUE(AreFarApart(Every(500'000, 3), 13'981));
  EXPECT_TRUE(AreFarApart(Every(kBlockWindowUs, 3), 20'001));
}

}  // namespace
}  // namespace stepscope
