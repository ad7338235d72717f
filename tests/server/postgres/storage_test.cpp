#include "server/postgres/storage.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

constexpr double kGiB = 1024.0 * 1024 * 1024;

TEST(Storage, IsLowWhenLittleIsFreeInShareAndInBytes) {
  EXPECT_TRUE((Storage{1.9 * kGiB, 20 * kGiB}.low()));
  EXPECT_FALSE((Storage{2.1 * kGiB, 200 * kGiB}.low())) << "PostgreSQL lives on 2 GiB";
  EXPECT_FALSE((Storage{1 * kGiB, 5 * kGiB}.low())) << "a small disk, a fifth of it free";
  EXPECT_TRUE((Storage{0, 1 * kGiB}.low()));
}

TEST(Storage, IsNearlyFullBelowHalfAGiB) {
  EXPECT_TRUE((Storage{0.4 * kGiB, 20 * kGiB}.nearly_full()));
  EXPECT_FALSE((Storage{0.6 * kGiB, 20 * kGiB}.nearly_full()));
  EXPECT_FALSE((Storage{0.4 * kGiB, 1 * kGiB}.nearly_full())) << "a small disk that is not low";
}

TEST(Storage, SaysWhatIsFree) {
  EXPECT_EQ((Storage{1.5 * kGiB, 20 * kGiB}.text()), "1.5 GiB free of 20.0 GiB");
}

TEST(LookAtStorage, SeesTheFileSystemOfAFolder) {
  const Result<Storage> storage = LookAtStorage("/");
  ASSERT_TRUE(storage.ok());
  EXPECT_GT(storage->all_bytes, 0);
  EXPECT_LE(storage->free_bytes, storage->all_bytes);
  EXPECT_FALSE(LookAtStorage("/no/such/folder").ok());
}

}  // namespace
}  // namespace stepscope
