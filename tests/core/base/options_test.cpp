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

TEST(Options, TakesWhatIsSaidElsewhereTheStrongestFirst) {
  constexpr Option kOwn[] = {
      {"--server", "URL", "", "", true},
      {"--interval", "TIME", "500ms", ""},
      {"--no-output", "", "", ""},
      {"--metric", "PATTERN", "", "", false, OptionSource::kAnywhere, true},
      {"--out", "FILE", "", "", false, OptionSource::kCommandLineOnly},
  };
  const auto elsewhere = [](const Arguments&) -> Result<std::vector<Setting>> {
    return std::vector<Setting>{{"--server", {"http://variable"}, "STEPSCOPE_SERVER"},
                                {"--no-output", {}, "STEPSCOPE_NO_OUTPUT"},
                                {"--server", {"http://file"}, "f:1: server", OptionSource::kFile},
                                {"--no-output", {"yes"}, "f:2: no-output", OptionSource::kFile},
                                {"--metric", {"a", "b"}, "f:3: metric", OptionSource::kFile},
                                {"--out", {"x"}, "f:4: out", OptionSource::kFile},
                                {"--other", {"y"}, "f:5: other", OptionSource::kFile}};
  };
  const std::vector<const char*> words = {"--interval", "1s"};
  const auto given = ParseArguments(kOwn, words, false, elsewhere);
  ASSERT_TRUE(given.ok()) << given.error().message;
  EXPECT_EQ((*given)["--server"], "http://variable");
  EXPECT_EQ(given->NameOf("--server"), "STEPSCOPE_SERVER");
  EXPECT_EQ((*given)["--interval"] + given->NameOf("--interval"), "1s--interval");
  EXPECT_FALSE(given->Has("--no-output"));
  EXPECT_EQ(given->All("--metric"), (std::vector<std::string>{"a", "b"}));
  EXPECT_FALSE(given->Has("--out"));
  const std::vector<const char*> own = {"--server=s", "--metric", "c", "--metric=d"};
  EXPECT_EQ(ParseArguments(kOwn, own, false, elsewhere)->All("--metric"),
            (std::vector<std::string>{"c", "d"}));
}

TEST(Options, HelpWinsOverEverythingElse) {
  EXPECT_TRUE(Parse({"--help"})->help);
  EXPECT_NE(OptionsHelp(kTable).find("Time between samples. (default: 500ms)"), std::string::npos);
}

}  // namespace
}  // namespace stepscope
