#include "agent/launch/process_match.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/base/text.h"
#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using test::FakeRoot;
using testing::ElementsAre;

using Words = std::vector<std::string>;

struct MatchTest : testing::Test {
  void Process(std::int64_t pid, std::int64_t parent, const Words& command,
               const Words& environment = {"STEPSCOPE_JOB=bert"}) const {
    const std::string folder = Format("/proc/{}/", pid);
    root.Write(folder + "cmdline", WithNul(command));
    root.Write(folder + "environ", WithNul(environment));
    root.Write(folder + "stat",
               Format("{} (python) S {} 0 0 0 -1 0 0 0 0 0 1 1 0 0 20 0 1 0 1 0 0\n", pid, parent));
  }
  static std::string WithNul(const Words& words) {
    std::string text;
    for (const std::string& word : words) text += word + '\0';
    return text;
  }
  ProcessMatch Match(const std::string& pattern = "python.*train\\.py", bool allowed = true) const {
    return {root.path(), *Pattern::Parse(pattern), [allowed](std::uint32_t) { return allowed; },
            [this](const MatchedProcess&) { return may_name; }};
  }
  static std::vector<std::int64_t> PidsOf(const std::vector<MatchedProcess>& found) {
    std::vector<std::int64_t> pids;
    for (const MatchedProcess& process : found) pids.push_back(process.pid);
    return pids;
  }

  FakeRoot root;
  std::optional<Status> may_name = Status();
};

const Words kTrain = {"/usr/bin/python3", "train.py", "--lr", "0.1"};

TEST_F(MatchTest, FindsWhatFitsAndNamesItsJob) {
  Process(100, 1, kTrain, {"STEPSCOPE_JOB=bert", "RANK=3", "CUDA_VISIBLE_DEVICES=2"});
  Process(200, 1, {"/usr/bin/python3", "serve.py"});
  const auto found = Match().Scan();
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].job, "bert");
  EXPECT_EQ(found[0].rank, 3);
  EXPECT_EQ(found[0].devices, "2");
}

TEST_F(MatchTest, LeavesOutNamesThatAreNotForTheUser) {
  Process(100, 1, kTrain, {"STEPSCOPE_JOB=bert"});
  auto match = Match();
  may_name = std::nullopt;
  EXPECT_TRUE(match.Scan().empty()) << "not known yet";
  may_name = Invalid("no name for user 7");
  EXPECT_TRUE(match.Scan().empty());
  may_name = Status();
  EXPECT_EQ(match.Scan().size(), 1u);
}

TEST_F(MatchTest, TakesTheRankFromWhateverLauncherSaysIt) {
  for (const char* variable :
       {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    Process(100, 1, kTrain, {"STEPSCOPE_JOB=bert", Format("{}=5", variable)});
    const auto found = Match().Scan();
    ASSERT_EQ(found.size(), 1u);
    EXPECT_EQ(found[0].rank, 5) << variable;
  }
}

TEST_F(MatchTest, LeavesOutWorkersAndTheLauncherBesideRanks) {
  Process(100, 1, {"python3", "torchrun", "train.py"});
  for (const int rank : {0, 1}) {
    const Words variables = {"STEPSCOPE_JOB=bert", Format("RANK={}", rank)};
    Process(110 + rank, 100, kTrain, variables);
    Process(120 + rank, 110 + rank, kTrain, variables);
  }
  EXPECT_THAT(PidsOf(Match().Scan()), ElementsAre(110, 111));
}

TEST_F(MatchTest, NumbersRanksOfEachJobWhereNobodySaysOne) {
  Process(100, 1, kTrain);
  Process(101, 1, kTrain);
  Process(102, 1, kTrain, {"STEPSCOPE_JOB=gpt"});
  const auto found = Match().Scan();
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].rank, 0);
  EXPECT_EQ(found[1].rank, 1);
  EXPECT_EQ(found[2].rank, 0);
}

TEST_F(MatchTest, LeavesOutWhatIsServedNamelessOrNotAllowed) {
  Process(100, 1, kTrain, {"STEPSCOPE_JOB=bert", "STEPSCOPE_SOCKET=/run/x.sock"});
  Process(101, 1, kTrain, {"HOME=/root"});
  Process(102, 1, {"/usr/bin/stepscope-agent", "run", "--", "python3", "train.py"});
  Process(103, 1, {});
  EXPECT_TRUE(Match().Scan().empty());
  Process(104, 1, kTrain);
  EXPECT_TRUE(Match("train", false).Scan().empty());
}

TEST_F(MatchTest, SeesAProcessThatBecomesItsProgramSoonAfter) {
  auto match = Match();
  Process(100, 1, {"sh", "-c", "exec python"});
  EXPECT_TRUE(match.Scan().empty());
  Process(100, 1, kTrain);
  EXPECT_EQ(match.Scan().size(), 1u);
}

TEST_F(MatchTest, TakesAnythingForACommandLine) {
  Process(100, 1, {std::string(100'000, 'x') + "train.py"});
  Process(101, 1, {std::string("\xff\xfe\x01", 3)});
  root.Write("/proc/102/cmdline", "python train.py");
  root.Write("/proc/999999999999999999999/cmdline", "python train.py");
  EXPECT_TRUE(Match().Scan().empty());
}

TEST(Patterns, SayWhatIsWrong) {
  for (const char* text : {"(", "[a", "(a)\\1", "a{2,1}"})
    EXPECT_FALSE(Pattern::Parse(text)) << text;
  EXPECT_FALSE(Pattern::Parse(std::string(513, 'a')));
  EXPECT_TRUE(Pattern::Parse("v\\d+")->Fits("v12"));
}

}  // namespace
}  // namespace stepscope
