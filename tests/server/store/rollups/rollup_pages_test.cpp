// Rollups of more bytes than one page holds: they come in pages, each row once and in order.

#include <gtest/gtest.h>

#include <memory>
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "server/store/rollups/rollup_pages.h"
#include "tests/support/job_frames.h"
#include "tests/support/postgres.h"
#include "tests/support/read_all.h"

namespace stepscope {
namespace {

constexpr RollupLevel kPagesLevel = kRollupLevels[0];
constexpr std::int64_t kPagesBegin = 1'795'204'800'000'000;  // begin of a row
constexpr std::int64_t kBins = kPagesLevel.chunk_us / kPagesLevel.bin_us;

class RollupPages : public ::testing::Test {
 protected:
  std::int64_t Any() { return static_cast<std::int64_t>(random_() >> 4); }

  // 46 kB that nothing makes smaller.
  StoredRollup Row(const std::string& metric, std::int64_t chunk_us) {
    StoredRollup row{{kPagesLevel.bin_us, metric, chunk_us}, {}};
    for (const char* device : {"0", "1", "2", "3"}) {
      for (const char* what : {kCount, kLeast, kGreatest, kSum}) {
        row.bins.series.push_back({what, device});
        row.bins.columns.emplace_back();
      }
    }
    for (std::int64_t bin = 0; bin < kBins; ++bin) {
      row.bins.at_us.push_back(chunk_us + bin * kPagesLevel.bin_us);
      for (Column& column : row.bins.columns) column.values.push_back(Any());
    }
    return row;
  }
  RollupQuery All() { return {job_.job_id(), {}, kPagesLevel.bin_us, 0, INT64_MAX, {}}; }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_ = database_.Connect(), schemas_ = database_.Connect();
  JobFrames job_{*connection_};
  std::mt19937_64 random_{1};
};

TEST_F(RollupPages, OfNodesComeOnceEachAndInTheirOrder) {
  using Place = std::tuple<std::string, std::int64_t, std::int64_t, std::int64_t>;
  std::vector<Place> stored, read;
  const std::int64_t nodes[] = {job_.node_id(), job_.AddNode("n2"), job_.AddNode("n3")};
  for (const std::string metric : {"user.a", "user.b", "user.c"}) {
    for (const std::int64_t node_id : nodes) {
      std::vector<StoredRollup> rows;
      for (int chunk = 0; chunk < 60; ++chunk) {
        rows.push_back(Row(metric, kPagesBegin + chunk * kPagesLevel.chunk_us));
        stored.emplace_back(metric, node_id, rows.back().key.chunk_us,
                            rows.back().bins.columns[0].values[0]);
      }
      ASSERT_TRUE(SaveRollups(*connection_, *schemas_, job_.job_id(), node_id, rows));
    }
  }
  const auto size = connection_->Query("select sum(octet_length(payload)) from rollups");
  ASSERT_GT(size->Int(0, 0), 2 * kRollupBytesAtOnce);
  for (const NodeRollup& row : LoadRollups(*connection_, All()).value()) {
    read.emplace_back(row.metric, row.node_id, row.bins.at_us[0], row.bins.columns[0].values[0]);
  }
  EXPECT_EQ(read, stored);

  // A reader that ends early gets no more, and the snapshot can go on.
  const Result<Transaction> snapshot = Transaction::Snapshot(*connection_);
  std::size_t taken = 0;
  const Status ended = ForEachRollup(*connection_, All(), [&](const NodeRollup&) -> Status {
    return ++taken < 400 ? Status() : Invalid("enough");
  });
  EXPECT_EQ(ended.error().message, "enough");
  EXPECT_EQ(taken, 400u) << "in the second lot or later";
  EXPECT_EQ(LoadRollups(*connection_, All())->size(), stored.size());
}

// Holds also where a page ends with a stale row, of which nothing is read.
TEST_F(RollupPages, OfAJobComeOnceEachAndInTheirOrder) {
  std::vector<FoldedRollup> rows;
  std::vector<RollupKey> keys, read;
  for (const std::string metric : {"user.a", "user.b"}) {
    for (int chunk = 0; chunk < 600; ++chunk) {
      const std::int64_t chunk_us = kPagesBegin + chunk * kPagesLevel.chunk_us;
      const RollupKey key{kPagesLevel.bin_us, metric, chunk_us};
      FoldedRollup& row = rows.emplace_back(FoldedRollup{key, 1, 0, {}});
      for (std::int64_t bin = 0; bin < kBins; ++bin) {
        const std::int64_t at_us = chunk_us + bin * kPagesLevel.bin_us;
        const auto any = [&] { return static_cast<double>(Any() >> 12); };
        row.bins.push_back({at_us, any(), any(), any(), any(), any()});
      }
      keys.push_back(row.key);
    }
  }
  ASSERT_TRUE(SaveJobRollups(*connection_, job_.job_id(), rows));
  const auto size = connection_->Query("select sum(octet_length(payload)) from job_rollups");
  ASSERT_GT(size->Int(0, 0), kRollupBytesAtOnce);
  for (int round = 0; round < 2; ++round) {
    read.clear();
    for (const FoldedRollup& row : LoadJobRollups(*connection_, All()).value()) {
      read.push_back(row.key);
      EXPECT_EQ(row.bins.empty(), round == 1);
    }
    EXPECT_EQ(read, keys);
    ASSERT_TRUE(MarkStale(*connection_, job_.job_id(), keys));
  }
}

}  // namespace
}  // namespace stepscope
