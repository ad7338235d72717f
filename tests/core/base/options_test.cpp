#include "core/base/options.h"

#include <gtest/gtest.h>

#include <vector>

namespace stepscope {
namespace {

constexpr Option kTable[] = {
    {"--server", "URL", "", "Where the service is.", true},
    {"--interval", "TIME", "500ms", "Time between samples."},
    {"--no-output", "", "", "Do not send output."},
};

Result<Arguments> Parse(std::vector<const char*> args) {
  return ParseArguments(kTable, args);
}

TEST(Options, TakesBothSpellingsAndTheRest) {
  const Result<Arguments> given =
      Parse({"--server=http://a", "--interval", "1s", "--no-output", "--", "python", "--server"});
  ASSERT_TRUE(given.ok());
  EXPECT_EQ((*given)["--server"], "http://a");
  EXPECT_EQ((*given)["--interval"], "1s");
  EXPECT_TRUE(given->Has("--no-output"));
  EXPECT_EQ(given->rest, (std::vector<std::string>{"python", "--server"}));
}

TEST(Options, FillsInFallbacks) {
  const Result<Arguments> given = Parse({"--server", "http://a"});
  EXPECT_EQ((*given)["--interval"], "500ms");
  EXPECT_FALSE(given->Has("--no-output"));
}

TEST(Options, NamesWhatIsWrong) {
  EXPECT_EQ(Parse({"--sever", "x"}).error().message,
            "unknown option --sever (did you mean --server?); --help lists them");
  EXPECT_EQ(Parse({"--interval", "1s"}).error().message,
            "--server URL is missing: Where the service is.");
  EXPECT_EQ(Parse({"--server"}).error().message, "--server needs a value: --server URL");
  EXPECT_EQ(Parse({"--no-output=1"}).error().message, "--no-output takes no value, got '1'");
  EXPECT_EQ(Parse({"stray"}).error().message, "unexpected argument 'stray'");
}

TEST(Options, HelpWinsOverEverythingElse) {
  EXPECT_TRUE(Parse({"--help"})->help);
  EXPECT_NE(OptionsHelp(kTable).find("Time between samples. (default: 500ms)"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
