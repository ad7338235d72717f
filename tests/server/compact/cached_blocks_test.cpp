// A reader with a cache of blocks sees what the database holds, whoever writes there.

#include <gtest/gtest.h>

#include <thread>

#include "server/compact/compact_node.h"
#include "server/store/retention/removals.h"
#include "server/store/ticks/block_cache.h"
#include "server/store/ticks/ticks.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBegin = 1'795'205'400'000'000;  // begin of a block window
constexpr std::int64_t kHourUs = 3'600'000'000;

class CachedBlocksTest : public ::testing::Test {
 protected:
  CachedBlocksTest() : writer_(database_.Connect()), frames_(*writer_) {}

  std::unique_ptr<Connection> Reader(BlockCache* cache) {
    auto connection = database_.Connect();
    connection->set_blocks(cache);
    return connection;
  }
  void Compact() {
    const auto done = CompactNode(*writer_, frames_.job_id(), frames_.node_id());
    ASSERT_TRUE(done) << done.error().message;
  }
  // Stores every `step`-th tick of ten minutes at 2 Hz; the value is its time.
  void StoreTicks(std::int64_t first, std::int64_t step, const std::string& device = "") {
    std::vector<std::int64_t> at_us;
    for (std::int64_t i = first; i < 1'200; i += step) at_us.push_back(kBegin + i * 500'000);
    frames_.StoreTicks({"user.a", device}, at_us);
  }
  TickTable Read(Connection& connection, TickFilter filter = {}) {
    const Result<TickTable> table = ReadTicks(connection, {.job_id = frames_.job_id(),
                                                           .node_id = frames_.node_id(),
                                                           .after_us = kBegin - 1,
                                                           .until_us = kBegin + kHourUs,
                                                           .filter = std::move(filter)});
    EXPECT_TRUE(table) << table.error().message;
    return table ? *table : TickTable{};
  }
  // The ticks that a reader sees, with the cache and without.
  void ExpectReads(Connection& reader, std::size_t rows) {
    const TickTable cached = Read(reader), plain = Read(*writer_);
    EXPECT_EQ(cached.at_us.size(), rows);
    EXPECT_EQ(EncodeTicks(cached).payload, EncodeTicks(plain).payload);
    EXPECT_EQ(cached.series, plain.series);
  }

  TestDatabase database_;
  std::unique_ptr<Connection> writer_;
  JobFrames frames_;
  BlockCache cache_{1 << 20};
};

TEST_F(CachedBlocksTest, BlocksAreFetchedOnce) {
  StoreTicks(0, 1);
  Compact();
  const auto one = Reader(&cache_), other = Reader(&cache_);
  ExpectReads(*one, 1'200);
  EXPECT_EQ(cache_.figures().misses, 2u) << "the values and the times of all ticks";
  EXPECT_GT(cache_.figures().bytes, 0u);
  ExpectReads(*other, 1'200);
  ExpectReads(*one, 1'200);
  EXPECT_EQ(cache_.figures().misses, 2u);
  EXPECT_EQ(cache_.figures().hits, 4u);
}

TEST_F(CachedBlocksTest, OnlyTheMetricsThatAreWantedAreFetched) {
  StoreTicks(0, 1);
  frames_.StoreTicks({"user.b", ""}, {kBegin, kBegin + 500'000});
  Compact();
  const auto reader = Reader(&cache_);
  EXPECT_EQ(Read(*reader, {{"user.b"}, {}}).series, (std::vector<SeriesName>{{"user.b", ""}}));
  EXPECT_EQ(cache_.figures().misses, 2u);
  ExpectReads(*reader, 1'200);
  EXPECT_EQ(cache_.figures().misses, 3u);
}

TEST_F(CachedBlocksTest, WhoWantsValuesOnlyNeedsNoTimesOfOthers) {
  StoreTicks(0, 1);
  frames_.StoreTicks({"user.b", ""}, {kBegin, kBegin + 500'000});
  Compact();
  frames_.StoreTicks({"user.b", ""}, {kBegin + 250'000});
  const auto reader = Reader(&cache_);
  const Result<TickTable> table = ReadTicks(*reader, {.job_id = frames_.job_id(),
                                                      .node_id = frames_.node_id(),
                                                      .after_us = kBegin - 1,
                                                      .until_us = kBegin + kHourUs,
                                                      .filter = {{"user.b"}, {}},
                                                      .values_only = true});
  ASSERT_TRUE(table) << table.error().message;
  EXPECT_EQ(cache_.figures().misses, 1u);
  EXPECT_EQ(table->at_us, (std::vector<std::int64_t>{kBegin, kBegin + 250'000, kBegin + 500'000}));
  EXPECT_EQ(Read(*reader, {{"user.b"}, {}}).at_us.size(), 1'201u);
}

TEST_F(CachedBlocksTest, LateFramesChangeWhatIsCached) {
  StoreTicks(0, 2);
  Compact();
  const auto reader = Reader(&cache_);
  ExpectReads(*reader, 600);
  StoreTicks(1, 2);
  ExpectReads(*reader, 1'200);
  Compact();
  ExpectReads(*reader, 1'200);
  StoreTicks(0, 1, "late");  // equal ticks, of another device
  Compact();
  ExpectReads(*reader, 1'200);
}

// A block may be written again without a change of its rows, times or size.
TEST_F(CachedBlocksTest, ABlockIsKnownByWhoWroteIt) {
  StoreTicks(0, 1);
  Compact();
  const auto reader = Reader(&cache_);
  ExpectReads(*reader, 1'200);
  const std::uint64_t misses = cache_.figures().misses;
  ASSERT_TRUE(writer_->Query("update blocks set payload = payload"));
  ExpectReads(*reader, 1'200);
  EXPECT_EQ(cache_.figures().misses, misses + 2);
}

TEST_F(CachedBlocksTest, RemovedBlocksAreGone) {
  StoreTicks(0, 1);
  Compact();
  const auto reader = Reader(&cache_);
  ExpectReads(*reader, 1'200);
  while (RemoveSamplesBefore(*writer_, frames_.job_id(), kBegin + kHourUs, 100)->rows > 0) {
  }
  EXPECT_TRUE(Read(*reader).series.empty());
}

TEST_F(CachedBlocksTest, WhoReadsWhileItCompactsSeesEachTickOnce) {
  constexpr std::int64_t kTicks = 3'000;
  std::vector<std::int64_t> expected;
  for (std::int64_t i = 0; i < kTicks; ++i) expected.push_back(kBegin + i * 500'000);
  std::vector<std::jthread> readers;
  for (int number = 0; number < 2; ++number) {
    readers.emplace_back([&](const std::stop_token& stop) {
      const auto own = Reader(&cache_);
      std::size_t before = 0;
      while (!stop.stop_requested()) {
        const TickTable seen = Read(*own, {{"user.a"}, {}});
        ASSERT_GE(seen.at_us.size(), before);
        before = seen.at_us.size();
        ASSERT_TRUE(std::equal(seen.at_us.begin(), seen.at_us.end(), expected.begin()));
        if (before > 0) {
          ASSERT_EQ(seen.columns.at(0).values, seen.at_us);
        }
      }
    });
  }
  for (std::int64_t from = 0; from < kTicks; from += 5) {
    frames_.StoreTicks({"user.a", ""}, {expected.begin() + from, expected.begin() + from + 5});
    if (from % 50 == 0) Compact();
  }
  readers.clear();
  Compact();
  ExpectReads(*Reader(&cache_), kTicks);
  EXPECT_GT(cache_.figures().hits, 0u);
}

}  // namespace
}  // namespace stepscope
