#include "agent/app/options/config_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <cstdlib>

#include "agent/app/options/common_options.h"
#include "agent/app/options/option_sources.h"
#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

constexpr Option kTable[] = {
    {"--server", "URL", "", ""},
    {"--interval", "TIME", "500ms", ""},
    {"--no-output", "", "", ""},
    {"--metric", "PATTERN", "", "", false, OptionSource::kAnywhere, true},
    {"--job", "NAME", "", "", false, OptionSource::kVariable},
    {"--socket", "PATH", "", "", false, OptionSource::kCommandLineOnly},
    {"--socket", "PATH", "", "", false, OptionSource::kFile},
};

Result<std::vector<Setting>> Parse(std::string_view text) {
  return ParseConfig(text, "agent.toml", kTable);
}

std::string ErrorOf(std::string_view text) {
  const auto settings = Parse(text);
  return settings ? "" : settings.error().message;
}

// The settings in one line, or the error.
std::string Said(std::string_view text) {
  const auto settings = Parse(text);
  if (!settings) return settings.error().message;
  std::string said;
  for (const Setting& setting : *settings) {
    said += setting.name + "=";
    for (const std::string& value : setting.values) said += value + ",";
    said += " ";
  }
  return said;
}

TEST(ConfigFile, HasTheOptionsNamesAsKeys) {
  EXPECT_EQ(Said("# ours\nserver = \"http://h:1\"\ninterval = '1s' # soon\nno-output = true\n"),
            "--server=http://h:1, --interval=1s, --no-output=true, ");
  EXPECT_EQ(Said("no-output = false\nmetric = ['a', \"b\\\\d\", ]"),
            "--no-output= --metric=a,b\\d, ");
  EXPECT_EQ(Said("metric='a'\r\n\tinterval = -5\n\nsocket = '\\s'"),
            "--metric=a, --interval=-5, --socket=\\s, ");
  EXPECT_EQ(Said("metric = [ # two\n  'a',\n\n  'b' # last\n]"), "--metric=a,b, ");
  EXPECT_EQ(Said("interval = 0.05"), "--interval=0.05, ");
  EXPECT_EQ(Said(""), "");
  EXPECT_EQ(Said("\xef\xbb\xbf#"), "");
  EXPECT_EQ(Parse("\n\nserver = 'x'")->at(0).origin, "agent.toml:3: server");
}

TEST(ConfigFile, NamesWhatIsWrongAndWhere) {
  const std::pair<std::string, std::string> cases[] = {
      {"\nintervall = '1s'", "2: unknown key 'intervall' (did you mean 'interval'?)"},
      {"nothing-like-it = 1", "1: unknown key 'nothing-like-it'"},
      {"job = 'x'", "1: 'job' stands in no configuration file; give --job"},
      {"interval = 0.5.1", "1: more stands behind the value of 'interval'"},
      {"interval = 1.", "1: digits are wanted on both sides of the point"},
      {std::string(500, 'k') + " = 1s",
       "1: the value of '" + std::string(60, 'k') + "...' must stand in quotes"},
      {"interval = 1s", "1: the value of 'interval' must stand in quotes"},
      {"interval = 007", "1: the value of 'interval' must stand in quotes"},
      {"interval = ['1s']", "1: 'interval' must be a text in quotes"},
      {"interval = true", "1: 'interval' must be a text in quotes"},
      {"no-output = 'yes'", "1: 'no-output' must be true or false"},
      {"metric = true", "1: 'metric' must be a text in quotes, or a list of them"},
      {"metric = ['a', true]", "1: a list holds texts in quotes, and ends with ']'"},
      {"metric = ['a' 'b']", "1: between the texts of a list stands a comma"},
      {"metric = [\n'a',\n", "3: a list holds texts in quotes, and ends with ']'"},
      {"server = 'x'\n[run]", "2: there are no sections here: every key stands by itself"},
      {"server.a = 'x'", "1: not of the form: key = value"},
      {"server", "1: not of the form: key = value"},
      {"server = ", "1: the value of 'server' must stand in quotes"},
      {"server = 'a'\nserver = 'b'", "2: 'server' is there twice"},
      {"server = 'a", "1: a text in quotes is not closed on its line"},
      {"server = 'a\n'", "1: a text in quotes is not closed on its line"},
      {"server = 'a' 'b'", "1: more stands behind the value of 'server'"},
      {"server = \"\\u0041\"",
       "1: in \"...\" a '\\' is written '\\\\'; in '...' it stands for itself"},
      {"server = '\xff'", "1: the text is not UTF-8"},
      {"\x7f\x45LF", "1: not of the form: key = value"},
      {"[[[", "1: there are no sections here: every key stands by itself"},
      {"metric = [}", "1: a list holds texts in quotes, and ends with ']'"},
      {"\xc3\xa9 = 1", "1: not of the form: key = value"},
  };
  for (const auto& [text, error] : cases) EXPECT_EQ(ErrorOf(text), Format("agent.toml:{}", error));
  EXPECT_EQ(ErrorOf(std::string("#\0", 2)), "agent.toml:1: not of the form: key = value");
  EXPECT_EQ(ErrorOf(std::string(70'000, '#')), "agent.toml: larger than 64 KiB");
  EXPECT_NE(ErrorOf("metric = " + std::string(60'000, '[')), "");
  EXPECT_EQ(ErrorOf("a" + std::string(60'000, '.') + "a = 1"),
            "agent.toml:1: not of the form: key = value");
  EXPECT_EQ(ErrorOf("server = '" + std::string(5'000, 'x') + "'"),
            "agent.toml:1: the text is too long");
}

class OnDisk : public testing::Test {
 protected:
  ~OnDisk() override {
    unsetenv("STEPSCOPE_INTERVAL");
    unsetenv("STEPSCOPE_NO_OUTPUT");
  }

  std::string Write(std::string_view text) {
    root_.Write("/agent.toml", text);
    return File("/agent.toml");
  }

  static Result<Arguments> Read(const std::string& path) {
    const std::vector<Option> table = JoinRows({kTable, EveryRows()});
    const std::vector<const char*> words = {"--config", path.c_str()};
    return ParseArguments(table, words, false,
                          [&](const Arguments& given) { return ReadOptionSources(given, table); });
  }

  std::string File(const std::string& name) const { return root_.path() + name; }

  test::FakeRoot root_;
};

TEST_F(OnDisk, ANamedFileMustBeThere) {
  EXPECT_TRUE(Read(Write("interval = '1s'")).ok());
  const auto missing = Read(File("/none"));
  ASSERT_FALSE(missing.ok());
  EXPECT_NE(missing.error().message.find("No such file"), std::string::npos);
  EXPECT_NE(Read(root_.path()).error().message.find("not a file"), std::string::npos);
  const std::string pipe = File("/pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_NE(Read(pipe).error().message.find("not a file"), std::string::npos);
}

TEST_F(OnDisk, AVariableIsStronger) {
  const std::string path = Write("interval = '1s'\nserver = 'http://file'\nno-output = true");
  setenv("STEPSCOPE_INTERVAL", "2s", 1);
  setenv("STEPSCOPE_NO_OUTPUT", "no", 1);
  const auto arguments = Read(path);
  ASSERT_TRUE(arguments.ok()) << arguments.error().message;
  EXPECT_EQ((*arguments)["--interval"], "2s");
  EXPECT_EQ((*arguments)["--server"], "http://file");
  EXPECT_FALSE(arguments->Has("--no-output"));
  setenv("STEPSCOPE_NO_OUTPUT", "perhaps", 1);
  EXPECT_EQ(Read(path).error().message,
            "STEPSCOPE_NO_OUTPUT: must be 'yes' or 'no', not 'perhaps'");
}

TEST_F(OnDisk, AnErrorNamesThePlace) {
  const std::string path = Write("server = 'http://h'\n\ninterval = '1h'");
  const auto arguments = Read(path);
  ASSERT_TRUE(arguments.ok());
  EXPECT_EQ(ReadDuration(*arguments, "--interval", 100ms, 60s).error().message,
            path + ":3: interval 1h: must be 100 ms to 1 min");
}

}  // namespace
}  // namespace stepscope
