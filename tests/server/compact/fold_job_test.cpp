#include "server/compact/fold_job.h"

#include <gtest/gtest.h>

#include <thread>

#include "server/store/rollups/job_rollups.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"
#include "tests/support/read_all.h"

namespace stepscope {
namespace {

constexpr std::int64_t kFoldBegin = 1'795'205'400'000'000;
constexpr std::int64_t kTickUs = 5'000'000;

class FoldJobTest : public ::testing::Test {
 protected:
  FoldJobTest() : connection_(database_.Connect()), job_(*connection_) {
    for (std::size_t i = 0; i < kFewNodes; ++i) {
      nodes_.push_back(job_.AddNode("host-" + std::to_string(i)));
    }
  }
  // Stores ticks of two devices, from a tick on.
  void Store(std::int64_t node_id, std::int64_t first, std::int64_t ticks) {
    TickTable table{{}, {{"user.a", "0"}, {"user.a", "1"}}, {{1, {}, {}}, {1, {}, {}}}};
    for (std::int64_t i = first; i < first + ticks; ++i) {
      table.at_us.push_back(kFoldBegin + i * kTickUs);
      table.columns[0].values.push_back(node_id * 100 + i % 7);
      table.columns[1].values.push_back(node_id * -10 + i % 11);
    }
    job_.StoreTicks(table, node_id);
  }
  void CompactAll(Connection& connection) {
    for (const std::int64_t node_id : nodes_) {
      const Result<Compacted> done = CompactNode(connection, job_.job_id(), node_id);
      ASSERT_TRUE(done) << done.error().message;
    }
  }
  void FoldAll() {
    for (bool more = true; more;) {
      const Result<Compacted> done = FoldSome(*connection_, job_.job_id());
      ASSERT_TRUE(done) << done.error().message;
      more = done->more;
    }
  }
  std::vector<FoldedRollup> Load(const RollupLevel& level) {
    const auto rows = LoadJobRollups(
        *connection_,
        {.job_id = job_.job_id(), .node_ids = {}, .bin_us = level.bin_us, .filter = {}});
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? *rows : std::vector<FoldedRollup>{};
  }
  // The fold of the nodes' current rollups.
  FoldedRollup ByHand(const RollupKey& key) {
    RollupFold fold(key);
    const auto rollups = LoadRollups(*connection_, {.job_id = job_.job_id(),
                                                    .node_ids = {},
                                                    .bin_us = key.bin_us,
                                                    .filter = {},
                                                    .chunks_us = {key.chunk_us}});
    for (const NodeRollup& rollup : *rollups) {
      fold.AddNode({&rollup.bins, 1});
    }
    return fold.Take();
  }
  void ExpectFolded() {
    for (const RollupLevel& level : kRollupLevels) {
      const std::vector<FoldedRollup> rows = Load(level);
      ASSERT_FALSE(rows.empty());
      for (const FoldedRollup& row : rows) {
        const FoldedRollup expected = ByHand(row.key);
        ASSERT_EQ(row.bins.size(), expected.bins.size()) << row.key.chunk_us;
        EXPECT_EQ(row.series, expected.series);
        for (std::size_t i = 0; i < row.bins.size(); ++i) {
          EXPECT_EQ(row.bins[i].count, expected.bins[i].count);
          EXPECT_NEAR(row.bins[i].sum, expected.bins[i].sum, 1e-3);
          EXPECT_EQ(row.bins[i].least, expected.bins[i].least);
        }
      }
    }
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
  JobFrames job_;
  std::vector<std::int64_t> nodes_;
};

TEST_F(FoldJobTest, RowsSayWhatTheNodesRollupsSay) {
  for (const std::int64_t node_id : nodes_) Store(node_id, 0, 1'500);
  CompactAll(*connection_);
  EXPECT_TRUE(Load(kRollupLevels[0]).front().bins.empty());
  FoldAll();
  EXPECT_FALSE(HasStale(*connection_, job_.job_id()).value());
  ExpectFolded();
}

TEST_F(FoldJobTest, WhatComesLaterMakesItsRowsStale) {
  for (const std::int64_t node_id : nodes_) Store(node_id, 0, 1'500);
  CompactAll(*connection_);
  FoldAll();
  Store(nodes_[3], 1'490, 20);
  CompactAll(*connection_);
  const std::vector<FoldedRollup> rows = Load(kRollupLevels[0]);
  EXPECT_FALSE(rows.front().bins.empty());
  EXPECT_TRUE(rows.back().bins.empty());
  FoldAll();
  ExpectFolded();
}

TEST_F(FoldJobTest, FewNodesAreLeftToReaders) {
  nodes_.pop_back();
  for (const std::int64_t node_id : nodes_) Store(node_id, 0, 10);
  CompactAll(*connection_);
  FoldAll();
  EXPECT_FALSE(HasStale(*connection_, job_.job_id()).value());
  EXPECT_TRUE(Load(kRollupLevels[0]).front().bins.empty());
}

TEST_F(FoldJobTest, WhatCannotBeReadIsLeftAndStopsNothing) {
  for (const std::int64_t node_id : nodes_) Store(node_id, 0, 1'500);
  CompactAll(*connection_);
  ASSERT_TRUE(
      connection_->Execute("update rollups set payload = 'broken' where chunk_us = "
                           "(select min(chunk_us) from rollups where bin_us = 10000000)"));
  FoldAll();
  EXPECT_FALSE(HasStale(*connection_, job_.job_id()).value());
  EXPECT_TRUE(Load(kRollupLevels[0]).front().bins.empty());
  EXPECT_FALSE(Load(kRollupLevels[0]).back().bins.empty());
}

// Two replicas fold at once when a lease changes hands.
TEST_F(FoldJobTest, WhoFoldsWhileNodesAreCompactedKeepsNothingOld) {
  std::jthread compactor([&] {
    const auto own = database_.Connect();
    for (int round = 0; round < 30; ++round) CompactAll(*own);
  });
  std::jthread folder([&](const std::stop_token& stop) {
    const auto own = database_.Connect();
    while (!stop.stop_requested()) {
      const Result<Compacted> done = FoldSome(*own, job_.job_id());
      ASSERT_TRUE(done) << done.error().message;
    }
  });
  for (std::int64_t tick = 0; tick < 300; tick += 5) {
    for (const std::int64_t node_id : nodes_) Store(node_id, tick, 5);
  }
  compactor.join();
  folder.request_stop();
  folder.join();
  CompactAll(*connection_);
  FoldAll();
  ExpectFolded();
}

}  // namespace
}  // namespace stepscope
