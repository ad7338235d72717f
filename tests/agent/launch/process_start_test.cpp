#include "agent/launch/process_start.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <map>

#include "tests/support/fake_root.h"

namespace stepscope {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using namespace std::string_literals;

using StartVariables = std::map<std::string, std::string, std::less<>>;

Environment StartOf(const StartVariables& variables) {
  return [variables](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

TEST(ProcessStart, ReadsCommandAndEnvironment) {
  test::FakeRoot root;
  root.Write("/proc/7/cmdline", "python\0train.py\0\0--lr=1\0"s);
  root.Write("/proc/7/environ", "A=1\0STEPSCOPE_JOB=bert\0JOB=\0"s);
  const ProcessStart start = ReadProcessStart(root.path(), 7);

  EXPECT_THAT(start.command, ElementsAre("python", "train.py", "", "--lr=1"));
  EXPECT_EQ(start.environment("STEPSCOPE_JOB"), "bert");
  EXPECT_EQ(start.environment("JOB"), "");
  EXPECT_EQ(start.environment("STEPSCOPE"), "");
}

TEST(ProcessStart, AnEmptyListOfGpusIsNone) {
  test::FakeRoot root;
  root.Write("/proc/7/environ", "CUDA_VISIBLE_DEVICES=\0HIP_VISIBLE_DEVICES= \0JOB=\0"s);
  const ProcessStart start = ReadProcessStart(root.path(), 7);

  EXPECT_EQ(start.environment("CUDA_VISIBLE_DEVICES"), "-1");
  EXPECT_EQ(start.environment("HIP_VISIBLE_DEVICES"), "-1");
  EXPECT_EQ(start.environment("ROCR_VISIBLE_DEVICES"), "");
}

TEST(ProcessStart, OfAProcessThatIsGoneIsEmpty) {
  test::FakeRoot root;
  const ProcessStart start = ReadProcessStart(root.path(), 7);

  EXPECT_THAT(start.command, IsEmpty());
  EXPECT_EQ(start.environment("PATH"), "");
}

TEST(ProcessStart, OfThisProcessIsKnown) {
  EXPECT_THAT(ReadProcessStart("", getpid()).command.at(0), HasSubstr("test_agent_launch"));
}

TEST(NamesOfProcess, WhatItSaysGoesBeforeVariableAndLauncher) {
  const StartVariables slurm = {{"SLURM_JOB_ID", "4711"}, {"SLURM_JOB_NAME", "bert"}};
  StartVariables both = slurm;
  both["STEPSCOPE_JOB"] = "mine";

  EXPECT_EQ(NamesOfProcess("said", StartOf(both))->job, "said");
  EXPECT_EQ(NamesOfProcess("", StartOf(both))->job, "mine");
  EXPECT_EQ(NamesOfProcess("", StartOf(slurm))->job, "bert-4711");
  EXPECT_EQ(NamesOfProcess("", StartOf(slurm))->group, "bert");
  EXPECT_EQ(NamesOfProcess("bert-4711", StartOf(slurm))->group, "bert");
  EXPECT_EQ(NamesOfProcess("said", StartOf(slurm))->group, "");
}

TEST(NamesOfProcess, AJobThatNobodyNamesIsAnErrorWithTheWayOut) {
  EXPECT_THAT(NamesOfProcess("", StartOf({})).error().message, HasSubstr("set STEPSCOPE_JOB"));
}

TEST(NamesOfProcess, ANameThatNoJobCanHaveIsRefused) {
  EXPECT_FALSE(NamesOfProcess("../etc", StartOf({})).ok());
  EXPECT_FALSE(NamesOfProcess(std::string(64, 'a'), StartOf({})).ok());
  EXPECT_EQ(NamesOfProcess("a", StartOf({{"STEPSCOPE_GROUP", "\x1b[2J"}}))->group, "");
}

TEST(KinetoNote, WarnsWhereItIsOn) {
  EXPECT_THAT(KinetoNote(StartOf({{"KINETO_USE_DAEMON", "1"}})), HasSubstr("may crash"));
  EXPECT_EQ(KinetoNote(StartOf({{"KINETO_USE_DAEMON", "0"}})), "");
  EXPECT_EQ(KinetoNote(StartOf({})), "");
}

}  // namespace
}  // namespace stepscope
