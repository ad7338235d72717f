#include "agent/app/spool_options.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include "core/base/log.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

Result<SpoolOptions> Read(std::vector<const char*> words) {
  const auto arguments = ParseArguments(SpoolRows(), words);
  return ReadSpool(*arguments);
}

TEST(SpoolOptions, HaveAFolderAndASizeByDefault) {
  const auto options = Read({});
  ASSERT_TRUE(options.ok());
  EXPECT_NE(options->folder.find("stepscope"), std::string::npos);
  EXPECT_EQ(options->bytes, 64u << 20);
}

TEST(SpoolOptions, AreReadAsTheyAreMeant) {
  EXPECT_EQ(Read({"--spool", "none"})->folder, "");
  EXPECT_EQ(Read({"--spool", "/x/y//"})->folder, "/x/y");
  EXPECT_EQ(Read({"--spool-size", "1GiB"})->bytes, std::uint64_t{1} << 30);
}

TEST(SpoolOptions, RefuseOtherSizes) {
  for (const char* size : {"64", "3MiB", "65GiB", "0MiB", "-1GiB", "MiB", "1e3MiB", "64MB"}) {
    const auto options = Read({"--spool-size", size});
    ASSERT_FALSE(options.ok()) << size;
    EXPECT_NE(options.error().message.find("--spool-size"), std::string::npos);
  }
}

TEST(OpenSpool, MakesAFolderForThisUserAlone) {
  test::FakeRoot root;
  const std::string folder = root.path() + "/state/spool";
  ASSERT_NE(OpenSpool({.folder = folder}), nullptr);
  struct stat status {};
  ASSERT_EQ(stat(folder.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
}

TEST(OpenSpool, TakesNoLinkAndNoOpenFolder) {
  StartLog("spool_test", LogLevel::kError);
  test::FakeRoot root;
  const std::string folder = root.path() + "/open", link = root.path() + "/link";
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  ASSERT_EQ(symlink(folder.c_str(), link.c_str()), 0);
  EXPECT_EQ(OpenSpool({.folder = link}), nullptr);
  chmod(folder.c_str(), 0755);
  EXPECT_EQ(OpenSpool({.folder = folder}), nullptr);
}

}  // namespace
}  // namespace stepscope
