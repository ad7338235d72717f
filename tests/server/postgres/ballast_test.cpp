#include "server/postgres/ballast.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/descriptor.h"
#include "tests/support/temp_folder.h"

namespace stepscope {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kMB = 1'000'000;

class Ballast : public ::testing::Test {
 protected:
  ~Ballast() override {
    if (mounted_) umount(folder_.c_str());
  }

  // Mounts a small file system; false where this user may not mount one.
  bool MountSmall() {
    mounted_ = mount("tmpfs", folder_.c_str(), "tmpfs", 0, "size=40m") == 0;
    return mounted_;
  }
  void Fill(std::uint64_t left) {
    const std::string path = folder_ + "/filler";
    const auto bytes = static_cast<std::uint64_t>(LookAtStorage(folder_)->free_bytes) - left;
    const Descriptor file(open(path.c_str(), O_WRONLY | O_CREAT, 0600));
    ASSERT_EQ(posix_fallocate(file.get(), 0, static_cast<off_t>(bytes)), 0);
  }
  fs::path file() const { return fs::path(folder_) / "ballast"; }

  const TempFolder made_;
  const std::string folder_ = made_.path();
  bool mounted_ = false;
};

TEST(BallastBytes, IsATwentiethOfASmallDiskAndOfUseOnATinyOne) {
  EXPECT_EQ(BallastBytes(256 * kMB, {0, 1e12}), 256 * kMB);
  EXPECT_EQ(BallastBytes(256 * kMB, {0, 2e9}), 100 * kMB);
  EXPECT_EQ(BallastBytes(256 * kMB, {0, 4e8}), 64 * kMB);
  EXPECT_EQ(BallastBytes(3 * kMB, {0, 1e12}), 3 * kMB) << "as it was said";
  EXPECT_EQ(BallastBytes(0, {0, 1e12}), 0u);
}

TEST_F(Ballast, IsMadeOfRealBlocksAndKept) {
  ASSERT_TRUE(KeepBallast(folder_, 3 * kMB));
  struct stat made {};
  ASSERT_EQ(stat(file().c_str(), &made), 0);
  EXPECT_EQ(made.st_size, std::int64_t{3 * kMB});
  EXPECT_GE(made.st_blocks * 512, made.st_size);
  EXPECT_EQ(made.st_mode & 0777, 0600u);
  ASSERT_TRUE(KeepBallast(folder_, 3 * kMB));
  struct stat kept {};
  ASSERT_EQ(stat(file().c_str(), &kept), 0);
  EXPECT_EQ(kept.st_mtim.tv_nsec, made.st_mtim.tv_nsec);
  EXPECT_FALSE(IsBallastSpent(folder_));
}

TEST_F(Ballast, OfAnotherSizeIsMadeTheSizeThatIsWanted) {
  ASSERT_TRUE(KeepBallast(folder_, 3 * kMB));
  ASSERT_TRUE(KeepBallast(folder_, 5 * kMB));
  EXPECT_EQ(BallastHeld(folder_), 5 * kMB);
  fs::resize_file(file(), 7);  // killed while the ballast was created
  EXPECT_FALSE(IsBallastSpent(folder_));
  ASSERT_TRUE(KeepBallast(folder_, 2 * kMB));
  EXPECT_EQ(BallastHeld(folder_), 2 * kMB);
}

TEST_F(Ballast, IsRemovedWhenNoneIsWanted) {
  ASSERT_TRUE(KeepBallast(folder_, 3 * kMB));
  ASSERT_TRUE(KeepBallast(folder_, 0));
  EXPECT_FALSE(fs::exists(file()));
  EXPECT_FALSE(IsBallastSpent(folder_));
}

TEST_F(Ballast, IsSpentOnceAndMadeAgain) {
  EXPECT_FALSE(SpendBallast(folder_, "nothing there")) << "there was none yet";
  EXPECT_FALSE(IsBallastSpent(folder_));
  ASSERT_TRUE(KeepBallast(folder_, 3 * kMB));
  EXPECT_TRUE(SpendBallast(folder_, "a test"));
  EXPECT_FALSE(SpendBallast(folder_, "a test"));
  EXPECT_TRUE(IsBallastSpent(folder_));
  EXPECT_EQ(BallastHeld(folder_), 0u);
  ASSERT_TRUE(KeepBallast(folder_, 3 * kMB));
  EXPECT_FALSE(IsBallastSpent(folder_));
}

TEST_F(Ballast, IsNotSpentWhileThereIsRoom) {
  ASSERT_TRUE(KeepBallast(folder_, 3 * kMB));
  EXPECT_FALSE(SpendBallastWhenFull(folder_));
  EXPECT_EQ(BallastHeld(folder_), 3 * kMB);
}

TEST_F(Ballast, IsNeverTakenForSpentWhileItIsMade) {
  std::atomic<bool> done = false, spent = false;
  std::thread watch([&] {
    while (!done) spent = spent || IsBallastSpent(folder_);
  });
  for (const std::uint64_t size : {100 * kMB, 200 * kMB, 50 * kMB}) {
    EXPECT_TRUE(KeepBallast(folder_, size));
    EXPECT_EQ(BallastHeld(folder_), size);
  }
  done = true;
  watch.join();
  EXPECT_FALSE(spent) << "frames were refused meanwhile";
  EXPECT_FALSE(fs::exists(file().string() + ".new"));
}

TEST_F(Ballast, IsNotMadeWhereItWouldFillTheDisk) {
  if (!MountSmall()) GTEST_SKIP() << "only root may mount a small file system";
  Fill(5 * kMB);
  const Status kept = KeepBallast(folder_, 9 * kMB);
  ASSERT_FALSE(kept);
  EXPECT_NE(kept.error().message.find("no room"), std::string::npos) << kept.error().message;
  EXPECT_FALSE(fs::exists(file()));
}

TEST_F(Ballast, IsSpentWhenTheDiskIsFullAndComesBackWithTheRoom) {
  if (!MountSmall()) GTEST_SKIP() << "only root may mount a small file system";
  ASSERT_TRUE(KeepBallast(folder_, 9 * kMB));
  EXPECT_EQ(BallastHeld(folder_), 9 * kMB);
  Fill(0);
  EXPECT_TRUE(SpendBallastWhenFull(folder_));
  EXPECT_GE(LookAtStorage(folder_)->free_bytes, 9.0 * kMB);
  EXPECT_FALSE(KeepBallast(folder_, 9 * kMB));
  EXPECT_TRUE(IsBallastSpent(folder_));
  fs::remove(fs::path(folder_) / "filler");
  EXPECT_TRUE(KeepBallast(folder_, 9 * kMB));
  EXPECT_FALSE(IsBallastSpent(folder_));
}

TEST_F(Ballast, LinkInItsPlaceIsNotFollowed) {
  std::ofstream(folder_ + "/precious") << "mine";
  fs::create_symlink(folder_ + "/precious", file());
  EXPECT_FALSE(KeepBallast(folder_, 3 * kMB));
  EXPECT_EQ(fs::file_size(folder_ + "/precious"), 4u);
}

}  // namespace
}  // namespace stepscope
