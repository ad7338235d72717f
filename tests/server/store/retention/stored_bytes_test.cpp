#include "server/store/retention/stored_bytes.h"

#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/support/postgres.h"

namespace stepscope {
namespace {

class StoredBytesTest : public ::testing::Test {
 protected:
  StoredBytesTest() : connection_(database_.Connect()) {}

  // Blocks of a job, one a window, and as many rollups.
  void Store(int job_id, int blocks, int payload_bytes) {
    const Status stored = connection_->Execute(
        Format("insert into blocks select {0}, 1, n * 600000000::bigint, 'user.a', 1, n * "
               "600000000::bigint,"
               " n * 600000000::bigint + 599000000, 1, false, convert_to(repeat('x', {2}), 'UTF8')"
               " from generate_series(1, {1}) n;"
               "insert into rollups select {0}, 1, 'user.a', 10, n, 1, convert_to(repeat('x', "
               "{2}), 'UTF8'), true"
               " from generate_series(1, {1}) n",
               job_id, blocks, payload_bytes));
    ASSERT_TRUE(stored) << stored.error().message;
  }
  StoredBytes Measured() {
    const Result<StoredBytes> stored = MeasureStored(*connection_);
    EXPECT_TRUE(stored) << (stored ? "" : stored.error().message);
    return stored ? *stored : StoredBytes{};
  }

  TestDatabase database_;
  std::unique_ptr<Connection> connection_;
};

TEST_F(StoredBytesTest, OfAnEmptyDatabaseIsZero) {
  EXPECT_EQ(Measured().live, 0);
  EXPECT_EQ(MeasureJobs(*connection_)->size(), 0u);
}

TEST_F(StoredBytesTest, IsCloseToTheFilesOfFreshTables) {
  for (const int payload_bytes : {300, 1'500, 5'000, 50'000}) {
    ASSERT_TRUE(connection_->Execute("truncate blocks, rollups"));
    Store(1, 4'000'000 / payload_bytes, payload_bytes);
    const StoredBytes stored = Measured();
    EXPECT_NEAR(double(stored.live) / double(stored.files), 1, 0.2) << payload_bytes;
  }
}

// PostgreSQL keeps the files as they are: a limit on their size would remove again and again.
TEST_F(StoredBytesTest, FallsAtOnceWhenRowsGoAndFilesDoNot) {
  Store(1, 1'000, 2'000);
  const StoredBytes before = Measured();
  ASSERT_TRUE(
      connection_->Execute("delete from blocks where window_us <= 500 * 600000000::bigint"));
  const StoredBytes after = Measured();
  EXPECT_NEAR(double(after.live), double(before.live) * 3 / 4, double(before.live) / 100);
  EXPECT_EQ(after.files, before.files);
}

TEST_F(StoredBytesTest, KnowsTheTimeBeforeWhichSamplesHaveToGo) {
  Store(1, 10, 1'000);
  Store(2, 10, 1'000);
  const StoredBytes stored = Measured();
  ASSERT_EQ(stored.samples.size(), 10u);
  const std::int64_t window = OnDisk(2, 2'000);
  EXPECT_EQ(stored.samples[0].bytes, window);
  EXPECT_EQ(TimeToFree(stored, 0, INT64_MAX), 0);
  EXPECT_EQ(TimeToFree(stored, 1, INT64_MAX), 1'200'000'000);
  EXPECT_EQ(TimeToFree(stored, 3 * window, INT64_MAX), 4 * 600'000'000ll);
  EXPECT_EQ(TimeToFree(stored, 99 * window, INT64_MAX), 11 * 600'000'000ll);
  EXPECT_EQ(TimeToFree(stored, 99 * window, 5 * 600'000'000ll), 5 * 600'000'000ll);
  EXPECT_EQ(TimeToFree(stored, 99 * window, 1), 0);
}

TEST_F(StoredBytesTest, IsKnownOfEachJob) {
  Store(1, 10, 1'000);
  Store(7, 30, 2'000);
  const auto jobs = MeasureJobs(*connection_);
  ASSERT_TRUE(jobs && jobs->size() == 2);
  EXPECT_NEAR(double(jobs->at(1)), double(OnDisk(20, 20'000)), 3);
  EXPECT_NEAR(double(jobs->at(7)), double(OnDisk(60, 120'000)), 3);
}

TEST_F(StoredBytesTest, CountsAnnotations) {
  ASSERT_TRUE(connection_->Execute(
      "insert into annotation_blocks values (3, 0, 0, 1, 0, 599000000, 1, 'twelve bytes')"));
  const StoredBytes stored = Measured();
  ASSERT_EQ(stored.samples.size(), 1u);
  EXPECT_EQ(stored.samples[0].until_us, 600'000'000);
  EXPECT_EQ(stored.samples[0].bytes, OnDisk(1, 12));
  EXPECT_EQ(MeasureJobs(*connection_)->at(3), OnDisk(1, 12));
  EXPECT_GT(stored.files, 0);
}

TEST_F(StoredBytesTest, CountsSpans) {
  ASSERT_TRUE(connection_->Execute(
      "insert into span_blocks values (3, 1, 0, 's', 1, 1, 0, 599000000, 1, 'twelve bytes')"));
  const StoredBytes stored = Measured();
  ASSERT_EQ(stored.samples.size(), 1u);
  EXPECT_EQ(stored.samples[0].until_us, 600'000'000);
  EXPECT_EQ(stored.samples[0].bytes, OnDisk(1, 12));
  EXPECT_EQ(MeasureJobs(*connection_)->at(3), OnDisk(1, 12));
}

TEST_F(StoredBytesTest, OneAtATimeHoldsTheLock) {
  const auto other = database_.Connect();
  EXPECT_TRUE(TryLockSize(*connection_).value());
  EXPECT_FALSE(TryLockSize(*other).value());
  UnlockSize(*connection_);
  EXPECT_TRUE(TryLockSize(*other).value());
}

}  // namespace
}  // namespace stepscope
