#include "server/access/rates.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

const SteadyTime kStart{1h};

TEST(RateLimits, ABurstGoesAtOnceAndThenAsMuchAsFlowsIn) {
  RateLimits rates({.per_second = 10, .burst = 4});
  for (int count = 0; count < 4; ++count) EXPECT_EQ(rates.Take("a", 1, kStart), 0s);
  EXPECT_EQ(rates.Take("a", 1, kStart), 100ms);
  EXPECT_EQ(rates.Take("a", 1, kStart + 50ms), 50ms);
  EXPECT_EQ(rates.Take("a", 1, kStart + 100ms), 0s);
  EXPECT_EQ(rates.Take("b", 1, kStart), 0s);
}

TEST(RateLimits, ABucketHoldsNoMoreThanItsBurst) {
  RateLimits rates({.per_second = 10, .burst = 4});
  EXPECT_EQ(rates.Take("a", 4, kStart), 0s);
  EXPECT_EQ(rates.Take("a", 4, kStart + 1h), 0s);
  EXPECT_GT(rates.Take("a", 1, kStart + 1h), 0s);
}

TEST(RateLimits, WhatIsRefusedTakesNothing) {
  RateLimits rates({.per_second = 1, .burst = 10});
  EXPECT_EQ(rates.Take("a", 8, kStart), 0s);
  EXPECT_EQ(rates.Take("a", 5, kStart), 3s);
  EXPECT_EQ(rates.Take("a", 2, kStart), 0s);
}

TEST(RateLimits, RemembersABoundedNumberOfKeys) {
  RateLimits rates({.per_second = 1, .burst = 1});
  for (std::size_t key = 0; key < 3 * RateLimits::kMostKeys; ++key) {
    rates.Take(std::to_string(key), 1, kStart);
    ASSERT_LE(rates.size(), RateLimits::kMostKeys);
  }
}

}  // namespace
}  // namespace stepscope
