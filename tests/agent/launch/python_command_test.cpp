#include "agent/launch/python_command.h"

#include <gtest/gtest.h>

namespace stepscope {
namespace {

PythonCommand Parsed(const std::vector<std::string>& words) {
  const auto command = ParsePythonCommand(words);
  EXPECT_TRUE(command.has_value());
  return command.value_or(PythonCommand());
}

TEST(PythonCommand, NamesProgramAndScriptWithoutFoldersAndArguments) {
  const PythonCommand command =
      Parsed({"/opt/venv/bin/python3", "-u", "/home/me/train.py", "--token=secret"});
  EXPECT_EQ(command.program, "python3");
  EXPECT_EQ(command.script, "train.py");
  EXPECT_FALSE(command.isolated);
}

TEST(PythonCommand, KnowsTheFlagsThatDecideWhatIsLoaded) {
  EXPECT_TRUE(Parsed({"python3.11", "-I", "a.py"}).isolated);
  EXPECT_TRUE(Parsed({"python", "-uE", "a.py"}).ignores_variables);
  EXPECT_TRUE(Parsed({"python", "-W", "error", "-S", "a.py"}).no_site);
  EXPECT_TRUE(Parsed({"python", "-X", "dev", "-s", "a.py"}).no_user_site);
  EXPECT_FALSE(Parsed({"python", "-Wignore::I", "a.py"}).isolated);
  EXPECT_FALSE(Parsed({"python", "a.py", "-I"}).isolated);
}

TEST(PythonCommand, IsKnownByItsFileWhereItCallsItselfOtherwise) {
  const auto actor = ParsePythonCommand({"ray::TrainWorker", "-I", "a.py"}, "python3.11");
  ASSERT_TRUE(actor.has_value());
  EXPECT_EQ(actor->program, "python3.11");
  EXPECT_TRUE(actor->isolated);
  EXPECT_TRUE(ParsePythonCommand({"python3-intel64", "a.py"}).has_value());
  EXPECT_FALSE(ParsePythonCommand({"ray::TrainWorker"}, "bash").has_value());
}

TEST(PythonCommand, TakesModulesAndTexts) {
  EXPECT_EQ(Parsed({"python", "-m", "torch.distributed.run", "x.py"}).script,
            "-m torch.distributed.run");
  EXPECT_EQ(Parsed({"python", "-Im", "job"}).script, "-m job");
  EXPECT_EQ(Parsed({"python", "-mjob"}).script, "-m job");
  EXPECT_EQ(Parsed({"python", "-c", "token = 'secret'"}).script, "-c");
  EXPECT_EQ(Parsed({"python"}).script, "");
  EXPECT_EQ(Parsed({"python", "-m"}).script, "-m ");
  EXPECT_EQ(Parsed({"python3", "/srv/train.pyz", "--lr"}).script, "train.pyz");  // a zipapp
  EXPECT_EQ(Parsed({"python", "-W"}).script, "");
}

TEST(PythonCommand, OtherProgramsAreNone) {
  for (const char* word : {"bash", "python-config", "/usr/bin/pythonista", "ray::train", ""})
    EXPECT_FALSE(ParsePythonCommand({word, "-I"})) << word;
  EXPECT_FALSE(ParsePythonCommand({}));
}

TEST(PythonCommand, VersionsStandInNamesOfExecutables) {
  EXPECT_EQ(PythonMinorVersion("python3.8"), 8);
  EXPECT_EQ(PythonMinorVersion("python3.13t"), 13);
  EXPECT_EQ(PythonMinorVersion("python3"), std::nullopt);
  EXPECT_EQ(PythonMinorVersion("python3.99999999999999999999"), std::nullopt);
}

}  // namespace
}  // namespace stepscope
