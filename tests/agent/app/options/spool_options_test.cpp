#include "agent/app/options/spool_options.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>
#include <filesystem>

#include "agent/spool/frame_stream.h"
#include "core/base/clock.h"
#include "core/base/log.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

Result<SpoolOptions> ReadSpoolOptions(std::vector<const char*> words) {
  const auto arguments = ParseArguments(SpoolRows(), words);
  return ReadSpool(*arguments);
}

TEST(SpoolOptions, HaveAFolderAndASizeByDefault) {
  const auto options = ReadSpoolOptions({});
  ASSERT_TRUE(options.ok());
  EXPECT_NE(options->folder.find("stepscope"), std::string::npos);
  EXPECT_EQ(options->bytes, 64u << 20);
}

TEST(SpoolOptions, AreReadAsTheyAreMeant) {
  EXPECT_EQ(ReadSpoolOptions({"--spool", "none"})->folder, "");
  EXPECT_EQ(ReadSpoolOptions({"--spool", "/x/y//"})->folder, "/x/y");
  EXPECT_EQ(ReadSpoolOptions({"--spool-size", "1GiB"})->bytes, std::uint64_t{1} << 30);
}

TEST(SpoolOptions, RefuseOtherSizes) {
  for (const char* size : {"64", "3MiB", "65GiB", "0MiB", "-1GiB", "MiB", "1e3MiB", "64MB"}) {
    const auto options = ReadSpoolOptions({"--spool-size", size});
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

// A home of the test's own, which stands for one that nodes of a cluster share.
struct SpoolOfUserTest : testing::Test {
  SpoolOfUserTest() { setenv("XDG_STATE_HOME", root.path().c_str(), 1); }
  ~SpoolOfUserTest() override { unsetenv("XDG_STATE_HOME"); }

  std::unique_ptr<FrameStream> Write(SpoolFolder* folder) {
    auto stream = std::make_unique<FrameStream>(StreamOwner{"job", "node-1", "http://h"},
                                                SpoolLimits{}, clock, folder);
    stream->Append({.kind = FrameKind::kLifecycle, .payload = R"({"event":"started"})"});
    return stream;
  }

  test::FakeRoot root;
  SystemClock clock;
};

TEST_F(SpoolOfUserTest, IsAnotherForEachHost) {
  EXPECT_EQ(SpoolOfUser("node-1").folder, root.path() + "/stepscope/node-1");
  EXPECT_EQ(SpoolOfUser("../x").folder, root.path() + "/stepscope/node");
  const auto first = TakeSpool(SpoolOfUser("node-1")), second = TakeSpool(SpoolOfUser("node-2"));
  ASSERT_TRUE(first.ok() && second.ok());
  ASSERT_TRUE(Write(first->get())->HandOver());

  EXPECT_EQ((*first)->Sessions().size(), 1u);
  EXPECT_TRUE((*second)->Sessions().empty());
  EXPECT_EQ(TakeSpool(SpoolOfUser("node-2"))->get()->Sessions().size(), 0u);
}

TEST_F(SpoolOfUserTest, TakesWhatAnOlderAgentLeftForAllHosts) {
  const std::string place = root.path() + "/stepscope";
  const auto older = OpenSpoolFolder(place, 64 << 20);
  ASSERT_TRUE(older.ok());
  ASSERT_TRUE(Write(older->get())->HandOver());
  const auto alive = Write(older->get());
  ASSERT_TRUE(alive->HandOver());
  ASSERT_EQ((*older)->Sessions().size(), 2u);
  const auto folder = TakeSpool(SpoolOfUser("node-1"));

  ASSERT_TRUE(folder.ok());
  EXPECT_EQ((*folder)->Sessions().size(), 1u);
  EXPECT_EQ((*older)->Sessions().size(), 1u) << "its agent lives";
}

TEST_F(SpoolOfUserTest, IsNowhereWithoutAHome) {
  setenv("XDG_STATE_HOME", "relative", 1);
  const std::string home = std::getenv("HOME");
  unsetenv("HOME");
  EXPECT_EQ(SpoolOfUser("node-1").folder, "");
  setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace stepscope
