#include "core/base/nameless_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <filesystem>

#include "tests/support/temp_folder.h"

namespace stepscope {
namespace {

TEST(NamelessFile, IsWrittenAndReadAndLeavesNothingInItsFolder) {
  const TempFolder made;
  const std::string& folder = made.path();
  const Descriptor file = OpenNamelessFile(folder);
  ASSERT_TRUE(file);
  EXPECT_TRUE(std::filesystem::is_empty(folder));
  ASSERT_TRUE(WriteAllAt(file, "one and two", 0));
  ASSERT_TRUE(WriteAllAt(file, "TWO", 8));
  std::array<char, 20> read{};
  ASSERT_EQ(pread(file.get(), read.data(), read.size(), 0), 11);
  EXPECT_STREQ(read.data(), "one and TWO");
  std::filesystem::remove(folder);
  EXPECT_FALSE(OpenNamelessFile(folder)) << "there is no such folder";
}

TEST(NamelessFile, ADiskThatTakesNoMoreIsAnError) {
  const Descriptor full(open("/dev/full", O_WRONLY | O_CLOEXEC));
  const Status written = WriteAllAt(full, "text", 0);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().message, "No space left on device");
}

}  // namespace
}  // namespace stepscope
