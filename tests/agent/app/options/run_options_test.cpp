#include "agent/app/options/run_options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "agent/app/options/option_sources.h"

namespace stepscope {
namespace {

using ::testing::HasSubstr;

Result<RunOptions> Read(std::vector<const char*> words) {
  const std::vector<Option> table = JoinRows({RunOptionTable(), EveryRows()});
  const auto arguments = ParseArguments(
      table, words, false, [&](const Arguments& given) { return ReadOptionSources(given, table); });
  if (!arguments) return arguments.error();
  return ReadRunOptions(*arguments);
}

std::string RunOptionsError(std::vector<const char*> more) {
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
  EXPECT_TRUE(options->python_hooks);
  EXPECT_FALSE(options->node.empty());
  EXPECT_EQ(options->command, (std::vector<std::string>{"python", "--x", "--"}));
}

TEST(RunOptions, WindowsAreAskedForUnlessTheyAreOffAndAutomaticWhereThatIsSaid) {
  const auto allowed = [](std::vector<const char*> more) {
    std::vector<const char*> words = {"--server", "http://h", "--job", "j"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), {"--", "python"});
    return AllowedWords(Read(words)->allowed);
  };
  using Words = std::vector<std::string>;
  EXPECT_EQ(allowed({}), (Words{"interval", "spans", "window"}));
  EXPECT_EQ(allowed({"--windows", "auto"}), (Words{"interval", "spans", "window", "automatic"}));
  EXPECT_EQ(allowed({"--windows", "auto", "--allow", "spans"}), (Words{"spans"}));
  EXPECT_EQ(allowed({"--windows", "off"}), (Words{"interval", "spans"}));
  EXPECT_THAT(RunOptionsError({"--windows", "on", "--", "x"}), HasSubstr("not auto, ask or off"));
}

TEST(RunOptions, AScheduleHasAFirstStepAndAFewSteps) {
  const auto schedule = Read({"--server", "http://h", "--job", "j", "--start-step", "1000",
                              "--num-steps", "8", "--", "python"});
  EXPECT_EQ(ToRequest(schedule->schedule), "window 8 steps from step 1000 for window 0");
  EXPECT_EQ(ToRequest(WindowSchedule{}), "");
  for (const char* wrong : {"0", "9", "-1", "x", "3x", "99999999999999999999"}) {
    EXPECT_THAT(RunOptionsError({"--start-step", "1", "--num-steps", wrong, "--", "x"}),
                HasSubstr("must be 1 to 8"));
  }
  EXPECT_THAT(RunOptionsError({"--start-step", "1e3", "--", "x"}), HasSubstr("must be 0 to"));
  EXPECT_THAT(RunOptionsError({"--start-step", "1", "--windows", "off", "--", "x"}),
              HasSubstr("contradicts --windows off"));
}

TEST(RunOptions, SwitchesTheHooksOff) {
  const auto options =
      Read({"--server", "http://h:1", "--job", "j", "--no-python", "--", "python"});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->python_hooks);
  EXPECT_EQ(CommandVariables(*options).size(), 2U);
}

TEST(RunOptions, NamesWhatIsWrong) {
  EXPECT_NE(RunOptionsError({}).find("command to run is missing"), std::string::npos);
  EXPECT_NE(RunOptionsError({"--", ""}).find("command to run is missing"), std::string::npos);
  EXPECT_NE(RunOptionsError({"--server", "h:80", "--", "x"}).find("--server"), std::string::npos);
  EXPECT_NE(RunOptionsError({"--job", "a b", "--", "x"}).find("a b"), std::string::npos);
  EXPECT_NE(RunOptionsError({"--job", std::string(64, 'a').c_str(), "--", "x"}).find("63"),
            std::string::npos);
  EXPECT_NE(RunOptionsError({"--node", "a\tb", "--", "x"}).find("--node"), std::string::npos);
  EXPECT_NE(RunOptionsError({"--intervall", "1s", "--", "x"}).find("did you mean --interval"),
            std::string::npos);
  for (const char* interval : {"99ms", "61s", "0s", "-1s", "1", "fast", "1e99s"}) {
    EXPECT_NE(RunOptionsError({"--interval", interval, "--", "x"}).find("--interval"),
              std::string::npos);
  }
}

TEST(RunOptions, TakesTheUsualServerWhereNobodyNamesOne) {
  const auto options = Read({"--job", "j", "--", "x"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->uplink.server, "http://127.0.0.1:8080");
  EXPECT_TRUE(options->assumes_server);
  setenv("STEPSCOPE_SERVER", "http://monitor:1", 1);
  const auto named = Read({"--job", "j", "--", "x"});
  unsetenv("STEPSCOPE_SERVER");
  ASSERT_TRUE(named.ok());
  EXPECT_EQ(named->uplink.server, "http://monitor:1");
  EXPECT_FALSE(named->assumes_server);
}

TEST(RunOptions, MakesANameOfOneWithUnderscoresAndDots) {
  const auto options = Read({"--job", "bert_base.v2", "--", "x"});
  ASSERT_TRUE(options.ok());
  EXPECT_EQ(options->job, "bert-base-v2");
  EXPECT_EQ(options->job_as_given, "bert_base.v2");
  EXPECT_EQ(Read({"--job", "a-b", "--", "x"})->job_as_given, "");
  EXPECT_EQ(Read({"--job", "_a.", "--", "x"})->job, "a");
  EXPECT_FALSE(Read({"--job", "_.", "--", "x"}).ok());
}

TEST(RunOptions, ReadsWhatStaysOnTheNode) {
  const auto options =
      Read({"--job", "j", "--no-command", "--hide", "licence", "--hide", "seed", "--", "x"});
  ASSERT_TRUE(options.ok());
  EXPECT_FALSE(options->secrets.sends_command);
  EXPECT_EQ(options->secrets.more_names, (std::vector<std::string>{"licence", "seed"}));
  EXPECT_FALSE(Read({"--job", "j", "--hide", "", "--", "x"}).ok());
}

TEST(RunOptions, ReadsTheBudgetOfTheSources) {
  EXPECT_DOUBLE_EQ(Read({"--job", "j", "--", "x"})->core_share, 0.0006);
  EXPECT_DOUBLE_EQ(Read({"--job", "j", "--budget", "0.5", "--", "x"})->core_share, 0.005);
  for (const char* budget : {"0", "-1", "101", "x", "", "nan", "1e9"})
    EXPECT_FALSE(Read({"--job", "j", "--budget", budget, "--", "x"}).ok()) << budget;
}

TEST(RunOptions, WantsAJob) {
  for (const char* name : {"SLURM_JOB_ID", "KUBERNETES_SERVICE_HOST"}) unsetenv(name);
  EXPECT_NE(Read({"--server", "http://h", "--", "x"}).error().message.find("--job"),
            std::string::npos);
}

TEST(RunOptions, TakeWhatIsSecretFromTheEnvironment) {
  setenv("STEPSCOPE_TOKEN", "st_agent_x", 1);
  setenv("STEPSCOPE_CA_FILE", "/env/ca.crt", 1);
  const auto silent = Read({"--server", "https://h", "--job", "j", "--", "x"});
  const auto said = Read({"--server", "https://h", "--job", "j", "--ca-file", "/said/ca.crt",
                          "--cert", "c", "--key", "k", "--insecure-http", "--", "x"});
  unsetenv("STEPSCOPE_TOKEN");
  unsetenv("STEPSCOPE_CA_FILE");
  ASSERT_TRUE(silent.ok() && said.ok());
  EXPECT_EQ(silent->uplink.token, "st_agent_x");
  EXPECT_EQ(silent->uplink.ca_file, "/env/ca.crt");
  EXPECT_EQ(said->uplink.ca_file, "/said/ca.crt");
  EXPECT_EQ(said->uplink.cert_file, "c");
  EXPECT_EQ(said->uplink.key_file, "k");
  EXPECT_FALSE(silent->uplink.insecure_http);
  EXPECT_TRUE(said->uplink.insecure_http);
  EXPECT_NE(RunOptionsError({"--token", "st_agent_x", "--", "x"}).find("--token"),
            std::string::npos);
}

TEST(RunOptions, TakeNamesFromOptionThenVariableThenLauncher) {
  const std::vector<const char*> silent = {"--server", "http://h", "--", "x"};
  setenv("SLURM_JOB_ID", "4711", 1);
  setenv("SLURM_JOB_NAME", "bert", 1);
  setenv("SLURMD_NODENAME", "n7", 1);
  const auto launched = Read(silent);
  setenv("STEPSCOPE_JOB", "mine", 1);
  setenv("STEPSCOPE_NODE", "here", 1);
  const auto set = Read(silent);
  const auto said = Read({"--server", "http://h", "--job", "j", "--node", "n", "--", "x"});
  for (const char* name :
       {"SLURM_JOB_ID", "SLURM_JOB_NAME", "SLURMD_NODENAME", "STEPSCOPE_JOB", "STEPSCOPE_NODE"}) {
    unsetenv(name);
  }
  ASSERT_TRUE(launched.ok() && set.ok() && said.ok());
  EXPECT_EQ(launched->job + launched->group + launched->node, "bert-4711bertn7");
  EXPECT_EQ(launched->named_by, "Slurm");
  EXPECT_EQ(set->job + set->group + set->node, "minehere");
  EXPECT_EQ(set->named_by, "");
  EXPECT_EQ(said->job + said->node, "jn");
}

}  // namespace
}  // namespace stepscope
