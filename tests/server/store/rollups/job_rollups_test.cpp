#include "server/store/rollups/job_rollups.h"

#include <gtest/gtest.h>

#include "tests/support/postgres.h"
#include "tests/support/read_all.h"

namespace stepscope {
namespace {

constexpr std::int64_t kBin = kRollupLevels[0].bin_us, kChunk = kRollupLevels[0].chunk_us;

class JobRollupsTest : public ::testing::Test {
 protected:
  JobRollupsTest() : one_(database_.Connect()), two_(database_.Connect()) {
    for (Connection* connection : {one_.get(), two_.get()}) {
      EXPECT_TRUE(connection->Execute("set lock_timeout = '200ms'"));
    }
  }
  void Save(const FoldedRollup& rollup) {
    const Status saved = SaveJobRollups(*one_, 1, std::span(&rollup, 1));
    ASSERT_TRUE(saved) << saved.error().message;
  }
  Result<std::vector<FoldedRollup>> Load() {
    return LoadJobRollups(*one_, {.job_id = 1, .node_ids = {}, .bin_us = kBin, .filter = {}});
  }

  TestDatabase database_;
  std::unique_ptr<Connection> one_, two_;
  const std::vector<RollupKey> keys_{{kBin, "user.a", kChunk}, {kBin, "user.b", kChunk}};
  const FoldedRollup some_{keys_[0], 3, 2, {{kChunk, 2, 6, 12.34, -1.5, 9.25}}};
};

TEST_F(JobRollupsTest, ComeBackAsTheyWere) {
  FoldedRollup rollup = some_;
  rollup.bins.push_back({kChunk + kBin, 20, 10'240, 1e18, -1e18, 1e18});
  rollup.bins.push_back({kChunk + 2 * kBin, 1, 1, 0.01, 0.01, 0.01});
  Save(rollup);
  const auto rows = Load();
  ASSERT_TRUE(rows && rows->size() == 1);
  EXPECT_EQ(rows->front().key, rollup.key);
  EXPECT_EQ(rows->front().series, 3);
  ASSERT_EQ(rows->front().bins.size(), 3u);
  for (std::size_t i = 0; i < 3; ++i) {
    const FoldedBin &got = rows->front().bins[i], &put = rollup.bins[i];
    EXPECT_EQ(got.at_us, put.at_us);
    EXPECT_EQ(got.weight, put.weight);
    EXPECT_EQ(got.count, put.count);
    EXPECT_NEAR(got.sum, put.sum, 1) << "beside 1e18 there is no room for decimals";
    EXPECT_NEAR(got.greatest, put.greatest, 1);
  }
}

TEST_F(JobRollupsTest, StaleOnesHaveNoBinsUntilTheyAreSaved) {
  Save(some_);
  ASSERT_TRUE(MarkStale(*one_, 1, keys_));
  EXPECT_TRUE(HasStale(*one_, 1).value());
  EXPECT_FALSE(HasStale(*one_, 2).value());
  ASSERT_EQ(Load()->size(), 2u);
  for (const FoldedRollup& rollup : *Load()) EXPECT_TRUE(rollup.bins.empty());
  Save(some_);
  EXPECT_FALSE(Load()->front().bins.empty());
  EXPECT_EQ(LockStale(*one_, 1, 9)->keys, std::vector(1, keys_[1]));
}

TEST_F(JobRollupsTest, ARowThatCannotBeReadIsNamed) {
  Save(some_);
  for (const std::string payload : {"'broken'", "substr(payload, 1, 9)", "payload || 'x'"}) {
    ASSERT_TRUE(one_->Execute("update job_rollups set payload = " + payload));
    const auto rows = Load();
    ASSERT_FALSE(rows) << payload;
    EXPECT_EQ(rows.error().code, Code::kInternal);
    EXPECT_NE(rows.error().message.find("user.a"), std::string::npos) << rows.error().message;
  }
}

TEST_F(JobRollupsTest, AFoldWaitsForNodesThatWrite) {
  for (const bool known : {false, true}) {  // the second time the rows are stale already
    auto writes = Transaction::Begin(*one_);
    ASSERT_TRUE(MarkStale(*one_, 1, keys_));
    auto folds = Transaction::Begin(*two_);
    const auto stale = LockStale(*two_, 1, 9);
    if (known) {
      ASSERT_FALSE(stale);
      EXPECT_EQ(stale.error().code, Code::kUnavailable) << "it waited";
    } else {
      EXPECT_TRUE(stale && stale->keys.empty());
    }
    ASSERT_TRUE(writes->Commit());
  }
}

TEST_F(JobRollupsTest, NodesWaitForAFoldThatReads) {
  ASSERT_TRUE(MarkStale(*one_, 1, keys_));
  {
    auto folds = Transaction::Begin(*two_);
    ASSERT_EQ(LockStale(*two_, 1, 9)->keys, keys_);
    auto writes = Transaction::Begin(*one_);
    const Status marked = MarkStale(*one_, 1, keys_);
    ASSERT_FALSE(marked);
    EXPECT_EQ(marked.error().code, Code::kUnavailable) << "it waited";
  }
  EXPECT_TRUE(MarkStale(*one_, 1, keys_));
}

}  // namespace
}  // namespace stepscope
