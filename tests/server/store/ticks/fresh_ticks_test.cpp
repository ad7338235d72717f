// Ticks that are not compacted yet, of a node with so many series that it is read in parts.

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/base/text.h"
#include "server/store/ticks/blocks.h"
#include "server/store/ticks/ticks.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kSecondUs = 1'000'000, kYearUs = 31'536'000 * kSecondUs;
using Times = std::vector<std::int64_t>;

class FreshTicks : public ::testing::Test {
 protected:
  // The value of each series is the second.
  void Store(const Times& at_us, std::size_t series) {
    TickTable ticks{at_us, {}, {}};
    Times seconds = at_us;
    for (std::int64_t& second : seconds) second /= kSecondUs;
    for (std::size_t i = 0; i < series; ++i) {
      ticks.series.push_back({"user.a", Format("{:05}", i)});
      ticks.columns.push_back({0, seconds, {}});
    }
    frames_.StoreTicks(ticks);
    stored_.insert(stored_.end(), at_us.begin(), at_us.end());
  }
  // A row a second, in frames that do not end where windows do.
  void StoreSeconds(std::int64_t first, std::int64_t count, std::size_t series) {
    constexpr std::int64_t kRows = 110;
    for (std::int64_t at = first; at < first + count; at += kRows) {
      Times at_us(static_cast<std::size_t>(std::min(kRows, first + count - at)));
      std::iota(at_us.begin(), at_us.end(), at);
      for (std::int64_t& time : at_us) time *= kSecondUs;
      Store(at_us, series);
    }
  }
  std::vector<TickTable> Read(std::int64_t after_us = 0, std::int64_t until_us = INT64_MAX) {
    std::vector<TickTable> parts;
    TickQuery query{
        .job_id = frames_.job_id(), .after_us = after_us, .until_us = until_us, .filter = {}};
    const Status read = ForEachFreshNode(*connection_, query, [&](NodeTicks node) {
      EXPECT_EQ(node.node_id, frames_.node_id());
      parts.push_back(std::move(node.ticks));
      return Status();
    });
    EXPECT_TRUE(read) << read.error().message;
    return parts;
  }
  static Times TimesOf(const std::vector<TickTable>& parts) {
    Times times;
    for (const TickTable& part : parts) {
      times.insert(times.end(), part.at_us.begin(), part.at_us.end());
    }
    return times;
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
  JobFrames frames_{*connection_};
  Times stored_;
};

TEST_F(FreshTicks, OfFewValuesAreOneTable) {
  StoreSeconds(1000, 1300, 3);
  const auto parts = Read();
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].at_us, stored_);
}

TEST_F(FreshTicks, OfManyValuesComeInPartsThatShareNoWindow) {
  StoreSeconds(1000, 1300, 3500);
  const auto parts = Read();
  EXPECT_GT(parts.size(), 1u);
  EXPECT_EQ(TimesOf(parts), stored_) << "each instant once, oldest first";
  for (std::size_t i = 1; i < parts.size(); ++i) {
    EXPECT_LT(BlockWindowOf(parts[i - 1].at_us.back()), BlockWindowOf(parts[i].at_us.front()));
  }
  for (const TickTable& part : parts) {
    ASSERT_EQ(part.series.size(), 3500u);
    EXPECT_EQ(part.columns.back().values.front(), part.at_us.front() / kSecondUs);
  }
}

TEST_F(FreshTicks, OneWindowIsReadHoweverManyValuesItHas) {
  StoreSeconds(0, 600, 7000);
  const auto parts = Read(-1);
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].at_us, stored_);
}

TEST_F(FreshTicks, TheEndsOfTheRangeAreKept) {
  StoreSeconds(1000, 1300, 3500);
  const Times times = TimesOf(Read(1099 * kSecondUs, 2249 * kSecondUs));
  ASSERT_EQ(times.size(), 1150u);
  EXPECT_EQ(times.front(), 1100 * kSecondUs);
  EXPECT_EQ(times.back(), 2249 * kSecondUs);
}

TEST_F(FreshTicks, AFrameOfManyYearsIsInEachPartWithItsOwnTicks) {
  Store({500 * kSecondUs}, 2);
  StoreSeconds(1000, 1300, 3500);
  Store({2400 * kSecondUs, 40 * kYearUs}, 3500);
  EXPECT_EQ(TimesOf(Read()), stored_);
}

// No half of it is less than the whole.
TEST_F(FreshTicks, OneFrameOfManyYearsAndValuesIsReadAtOnce) {
  Times at_us;
  for (std::int64_t i = 1; i <= 600; ++i) at_us.push_back(i * kYearUs / 10);
  Store(at_us, 6'990);
  const auto parts = Read();
  ASSERT_EQ(parts.size(), 1u);
  EXPECT_EQ(parts[0].at_us, stored_);
}

TEST_F(FreshTicks, ARangeThatEndsBeforeItBeginsIsEmpty) {
  Times at_us(600);
  std::iota(at_us.begin(), at_us.end(), 900);
  for (std::int64_t& time : at_us) time *= kSecondUs;
  Store(at_us, 6'990);
  EXPECT_TRUE(Read(1'250 * kSecondUs, 1'100 * kSecondUs).empty());
  EXPECT_TRUE(Read(1'199 * kSecondUs, 1'199 * kSecondUs).empty());
}

}  // namespace
}  // namespace stepscope
