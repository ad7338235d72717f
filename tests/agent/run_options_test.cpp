#include "agent/run_options.h"

#include <gtest/gtest.h>

#include <fstream>

#include "agent/uplink.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

Result<RunOptions> Read(std::vector<const char*> words) {
  const auto arguments = ParseArguments(RunOptionTable(), words);
  if (!arguments) return arguments.error();
  return ReadRunOptions(*arguments);
}

std::string ErrorOf(std::vector<const char*> more) {
  std::vector<const char*> words = {"--server", "http://h", "--job", "j"};
  words.insert(words.end(), more.begin(), more.end());
  const auto options = Read(std::move(words));
  return options ? "" : options.error().message;
}

TEST(RunOptions, HasGoodDefaults) {
  const auto options = Read({"--server", "http://h:1", "--job", "j", "--", "python", "--x", "--"});
  ASSERT_TRUE(options.ok()) << options.error().message;
  EXPECT_EQ(options->interval, 500ms);
  EXPECT_EQ(options->push, 2s);
  EXPECT_TRUE(options->travelling_output);
  EXPECT_FALSE(options->node.empty());
  EXPECT_EQ(options->command, (std::vector<std::string>{"python", "--x", "--"}));
}

TEST(RunOptions, NamesWhatIsWrong) {
  EXPECT_NE(ErrorOf({}).find("command to run is missing"), std::string::npos);
  EXPECT_NE(ErrorOf({"--", ""}).find("command to run is missing"), std::string::npos);
  EXPECT_NE(ErrorOf({"--server", "h:80", "--", "x"}).find("--server"), std::string::npos);
  EXPECT_NE(ErrorOf({"--job", "a_b", "--", "x"}).find("a_b"), std::string::npos);
  EXPECT_NE(ErrorOf({"--job", std::string(64, 'a').c_str(), "--", "x"}).find("63"),
            std::string::npos);
  EXPECT_NE(ErrorOf({"--node", "a\tb", "--", "x"}).find("--node"), std::string::npos);
  EXPECT_NE(ErrorOf({"--intervall", "1s", "--", "x"}).find("did you mean --interval"),
            std::string::npos);
  for (const char* interval : {"99ms", "61s", "0s", "-1s", "1", "fast", "1e99s"}) {
    EXPECT_NE(ErrorOf({"--interval", interval, "--", "x"}).find("--interval"), std::string::npos);
  }
  EXPECT_NE(ErrorOf({"--log-level", "loud", "--", "x"}).find("log level"), std::string::npos);
}

TEST(RunOptions, WantsServerAndJob) {
  EXPECT_NE(Read({"--job", "j", "--", "x"}).error().message.find("--server"), std::string::npos);
  EXPECT_NE(Read({"--server", "http://h", "--", "x"}).error().message.find("--job"),
            std::string::npos);
}

TEST(ReadToken, TakesOneLineAndNothingElse) {
  const test::FakeRoot folder;
  const std::string path = folder.path() + "/token";
  EXPECT_FALSE(ReadToken(path).ok());
  for (const auto& [text, good] :
       std::initializer_list<std::pair<std::string, bool>>{{"st_agent_abc\n", true},
                                                           {"", false},
                                                           {"two words", false},
                                                           {"two\nlines", false},
                                                           {"a\r\nX: y", false},
                                                           {std::string(600, 'x'), false},
                                                           {std::string(100'000, 'x'), false}}) {
    folder.Write("/token", text);
    EXPECT_EQ(ReadToken(path).ok(), good) << text.substr(0, 20);
  }
}

TEST(Uplink, RefusesWhatItCannotUse) {
  EXPECT_FALSE(Uplink::Make("ftp://h", "", "").ok());
  EXPECT_FALSE(Uplink::Make("http://h/?q=1", "", "").ok());
  EXPECT_FALSE(Uplink::Make("http://h", "", "/nowhere/token").ok());
  const auto bad_ca = Uplink::Make("https://h", "/nowhere/ca.pem", "");
  ASSERT_FALSE(bad_ca.ok());
  EXPECT_NE(bad_ca.error().message.find("/nowhere/ca.pem"), std::string::npos);
  const auto uplink = Uplink::Make("http://h:81/base/", "", "");
  ASSERT_TRUE(uplink.ok());
  EXPECT_EQ((*uplink)->PageOf("j"), "http://h:81/base/jobs/j");
}

}  // namespace
}  // namespace stepscope
