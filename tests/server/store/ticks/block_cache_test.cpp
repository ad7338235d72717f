#include "server/store/ticks/block_cache.h"

#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "server/store/ticks/tick_table.h"

namespace stepscope {
namespace {

// Values without order, so that a block takes some bytes for each.
BlockCache::Block MakeBlock(std::size_t rows) {
  std::mt19937_64 dice(rows);
  Table table{rows, {Column{}}};
  for (std::size_t row = 0; row < rows; ++row) {
    table.columns[0].values.push_back(static_cast<std::int64_t>(dice()));
  }
  auto reader = TableReader::Open(EncodeTable(table), kBlockLimits);
  const auto schema = std::make_shared<const Schema>(Schema{-1, {{"at_us", ""}}, {}});
  return std::make_shared<const OpenTable>(OpenTable{schema, std::move(*reader)});
}

CachedBlockKey Place(std::int64_t window_us) {
  return {1, 2, window_us, "user.a"};
}

TEST(BlockCache, GivesAVersionToWhoSeesThatVersion) {
  BlockCache cache(1 << 20);
  EXPECT_EQ(cache.Find(Place(0), "one"), nullptr);
  const BlockCache::Block block = MakeBlock(10);
  cache.Put(Place(0), "one", block);
  EXPECT_EQ(cache.Find(Place(0), "one"), block);
  EXPECT_EQ(cache.Find(Place(0), "two"), nullptr);
  EXPECT_EQ(cache.Find(Place(600), "one"), nullptr);
  cache.Put(Place(0), "two", MakeBlock(20));
  EXPECT_EQ(cache.Find(Place(0), "one"), nullptr);
  EXPECT_EQ(cache.Find(Place(0), "two")->reader.rows(), 20u);
  EXPECT_EQ(cache.figures().hits, 2u);
  EXPECT_EQ(cache.figures().misses, 4u);
}

TEST(BlockCache, WhatWasNotAskedForLongestGoesFirst) {
  constexpr std::size_t kRows = 1'000;
  const std::size_t one = MakeBlock(kRows)->reader.bytes() + 1'000;
  BlockCache cache(3 * one);
  for (const std::int64_t window_us : {0, 1, 2}) {
    cache.Put(Place(window_us), "", MakeBlock(kRows));
  }
  const BlockCache::Block kept = cache.Find(Place(0), "");
  cache.Put(Place(3), "", MakeBlock(kRows));
  EXPECT_EQ(cache.Find(Place(1), ""), nullptr);
  for (const std::int64_t window_us : {0, 2, 3}) EXPECT_TRUE(cache.Find(Place(window_us), ""));
  EXPECT_LE(cache.figures().bytes, 3 * one);
  cache.Put(Place(4), "", MakeBlock(4 * kRows));
  EXPECT_EQ(cache.Find(Place(4), ""), nullptr) << "larger than all may be";
  EXPECT_TRUE(cache.Find(Place(3), ""));
  EXPECT_EQ(kept->reader.rows(), kRows);
}

TEST(BlockCache, IsForSeveralThreads) {
  BlockCache cache(20'000);
  std::vector<std::jthread> threads;
  for (int number = 0; number < 4; ++number) {
    threads.emplace_back([&cache, number] {
      std::mt19937 dice(static_cast<unsigned>(number));
      for (std::int64_t i = 0; i < 2'000; ++i) {
        const std::int64_t window_us = dice() % 40;
        const auto rows = static_cast<std::size_t>(1 + window_us + i / 500);  // changes meanwhile
        const std::string version = std::to_string(rows);
        const BlockCache::Block found = cache.Find(Place(window_us), version);
        if (!found) cache.Put(Place(window_us), version, MakeBlock(rows));
        if (found) {
          ASSERT_EQ(found->reader.Read(0)->values.size(), rows);
        }
      }
    });
  }
  threads.clear();
  EXPECT_GT(cache.figures().hits, 0u);
  EXPECT_LE(cache.figures().bytes, 20'000u);
}

}  // namespace
}  // namespace stepscope
