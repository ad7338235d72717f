// Rows that are found by their keys, in tables that have grown since the statement was planned:
// what a job keeps of other nodes, sessions and hours is not read.

#include <gtest/gtest.h>

#include <functional>

#include "core/base/text.h"
#include "server/store/frames/stored_frames.h"
#include "server/store/rollups/rollups.h"
#include "server/store/ticks/blocks.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class FoundByKey : public testing::Test {
 protected:
  // The pages of the table and its indexes that one call reads.
  std::int64_t PagesRead(const std::string& table, const std::function<bool()>& call) {
    const std::int64_t before = PagesRead(table);
    EXPECT_TRUE(call());
    return PagesRead(table) - before;
  }
  // Plans a call while the table is empty, and runs it again with 20,000 rows.
  std::int64_t PagesReadOnceGrown(const std::string& table, const std::string& rows,
                                  const std::function<bool()>& call) {
    for (int i = 0; i < 3; ++i) EXPECT_TRUE(call());
    const auto grown = connection_->Execute("insert into " + table + rows);
    EXPECT_TRUE(grown) << grown.error().message;
    return PagesRead(table, call);
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect();
  JobFrames frames_{*connection_};
  const std::int64_t job_id_ = frames_.job_id(), node_id_ = frames_.node_id();

 private:
  // The count since the database was created.
  std::int64_t PagesRead(const std::string& table) {
    EXPECT_TRUE(connection_->Query("select pg_stat_force_next_flush()"));
    EXPECT_TRUE(connection_->Execute("select 1"));
    const auto reader = database_.Connect();
    const auto rows = reader->Query(
        "select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit "
        "from pg_statio_user_tables where relname = $1",
        {table});
    EXPECT_TRUE(rows) << rows.error().message;
    return rows ? rows->Int(0, 0) : 0;
  }
};

// For four rows that do not exist: a few pages for each search of an index.
constexpr std::int64_t kMostPages = 30;

TEST_F(FoundByKey, BlocksOfANode) {
  const std::vector<BlockKey> keys = {{1, "a"}, {1, "b"}, {2, "a"}, {2, "b"}};
  const std::string rows = Format(
      " select {}, {}, 600 * n, 'm', 0, 0, 0, 1, false, '' from generate_series(1, 20000) as n",
      job_id_, node_id_);
  EXPECT_LT(
      PagesReadOnceGrown("blocks", rows,
                         [&] { return LockBlocks(*connection_, job_id_, node_id_, keys).ok(); }),
      kMostPages);
}

TEST_F(FoundByKey, RollupsOfANode) {
  const std::vector<RollupKey> keys = {{10, "a", 1}, {10, "b", 1}, {60, "a", 1}, {60, "b", 1}};
  const std::string rows = Format(
      " select {}, 1000 + n % 1000, 'm' || n % 20, 10, n, 0, '', true "
      "from generate_series(1, 20000) as n",
      job_id_);
  EXPECT_LT(
      PagesReadOnceGrown("rollups", rows,
                         [&] { return LockRollups(*connection_, job_id_, node_id_, keys).ok(); }),
      kMostPages);
}

TEST_F(FoundByKey, RollupsOfAMetricOfSomeNodes) {
  const std::string rows = Format(
      " select {}, 1000 + n % 1000, 'm' || n % 20, 10, 0, 0, '', true "
      "from generate_series(1, 20000) as n on conflict do nothing",
      job_id_);
  EXPECT_LT(PagesReadOnceGrown("rollups", rows,
                               [&] {
                                 return ForEachRollupOf(*connection_, job_id_, {10, "a", 0},
                                                        {1, 2, 3, 4},
                                                        [](const NodeRollup&) { return Status(); })
                                     .ok();
                               }),
            kMostPages);
}

TEST_F(FoundByKey, StreamsOfAJob) {
  const std::vector<StreamKey> keys = {{job_id_, node_id_, "a"}, {job_id_, node_id_, "b"}};
  ASSERT_TRUE(connection_->QueryByKey(AddStreams(keys, 1)));
  const std::string rows = Format(
      " (job_id, session, node_id, created_us) "
      "select {}, ('s' || n)::bytea, n, 1 from generate_series(1, 20000) as n",
      job_id_);
  EXPECT_LT(PagesReadOnceGrown("streams", rows,
                               [&] { return connection_->QueryTogether(LockStreams(keys)).ok(); }),
            kMostPages);
}

TEST_F(FoundByKey, StreamsThatAdvance) {
  const std::vector<StreamAdvance> streams = {{job_id_, 1, 0, 0, "a"}, {job_id_, 1, 0, 0, "b"}};
  const std::string rows = Format(
      " (job_id, session, node_id, created_us) "
      "select {}, ('s' || n)::bytea, n, 1 from generate_series(1, 20000) as n",
      job_id_);
  EXPECT_LT(
      PagesReadOnceGrown(
          "streams", rows,
          [&] { return connection_->QueryTogether(std::vector{AdvanceStreams(streams)}).ok(); }),
      kMostPages);
}

TEST_F(FoundByKey, NodesThatAreSeen) {
  const std::vector<NodeSeen> nodes = {{job_id_, "a", 1, 0, 0}, {job_id_, "b", 1, 0, 0}};
  const std::string rows = Format(
      " (job_id, name, first_seen_us, last_seen_us) "
      "select {}, 'n1-' || n, 1, 1 from generate_series(1, 20000) as n",
      job_id_);
  EXPECT_LT(PagesReadOnceGrown(
                "nodes", rows,
                [&] { return connection_->QueryTogether(std::vector{SeeNodes(nodes)}).ok(); }),
            kMostPages);
}

TEST_F(FoundByKey, FramesOfASession) {
  std::vector<FrameKey> keys(4);
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i].session = "s";
    keys[i].sequence = static_cast<std::int64_t>(30'000 + i);
  }
  const std::string rows = Format(
      " select {}, {}, 's', n, 1, -1, 0, n, n, 1, false, '' from generate_series(1, 20000) as n",
      job_id_, node_id_);
  EXPECT_LT(PagesReadOnceGrown(
                "frames", rows,
                [&] { return DeleteFrames(*connection_, job_id_, keys, keys.size()).ok(); }),
            kMostPages);
}

}  // namespace
}  // namespace stepscope
