#include "agent/launch/launcher.h"

#include <gtest/gtest.h>

#include <map>

#include "core/model/names.h"

namespace stepscope {
namespace {

using Variables = std::map<std::string, std::string, std::less<>>;

Environment Of(const Variables& variables) {
  return [variables](std::string_view name) {
    const auto found = variables.find(name);
    return found == variables.end() ? std::string() : found->second;
  };
}

std::string JobOf(const Variables& variables) {
  return NamesOfLaunch(Of(variables)).job;
}

Variables With(Variables variables, const Variables& more) {
  for (const auto& [name, value] : more) variables[name] = value;
  return variables;
}

const Variables kSlurm = {{"SLURM_JOB_ID", "4711"}, {"SLURM_JOB_NAME", "bert"}};
const Variables kArray =
    With(kSlurm, {{"SLURM_ARRAY_JOB_ID", "4700"}, {"SLURM_ARRAY_TASK_ID", "0"}});
const Variables kPod = {{"KUBERNETES_SERVICE_HOST", "10.0.0.1"}};

TEST(Launcher, EachGivesItsName) {
  const struct {
    Variables variables;
    const char *job, *group, *node, *launcher;
  } rows[] = {
      {With(kSlurm, {{"SLURMD_NODENAME", "n7"}}), "bert-4711", "bert", "n7", "Slurm"},
      {kArray, "bert-4700-0", "bert", "", "Slurm"},
      {{{"LSB_JOBID", "12"}, {"LSB_JOBNAME", "gpt"}, {"LSB_JOBINDEX", "0"}},
       "gpt-12",
       "gpt",
       "",
       "LSF"},
      {{{"LSB_JOBID", "12"}, {"LSB_JOBNAME", "gpt[3]"}, {"LSB_JOBINDEX", "3"}},
       "gpt-12-3",
       "gpt",
       "",
       "LSF"},
      {{{"PBS_JOBID", "9.head.example"}, {"PBS_JOBNAME", "t5"}}, "t5-9", "t5", "", "PBS"},
      {{{"PBS_JOBID", "9[2].head"}, {"PBS_JOBNAME", "t5"}}, "t5-9-2", "t5", "", "PBS"},
      {{{"JOB_ID", "5"}, {"JOB_NAME", "vit"}, {"SGE_TASK_ID", "undefined"}},
       "vit-5",
       "vit",
       "",
       "SGE"},
      {{{"JOB_ID", "5"}, {"JOB_NAME", "vit"}, {"SGE_TASK_ID", "2"}}, "vit-5-2", "vit", "", "SGE"},
      {With(kPod, {{"HOSTNAME", "bert-2"}, {"JOB_COMPLETION_INDEX", "2"}, {"NODE_NAME", "n1"}}),
       "bert", "", "n1", "Kubernetes"},
      {With(kPod, {{"HOSTNAME", "lone"}, {"POD_NAMESPACE", "ml"}}), "lone", "ml", "", "Kubernetes"},
      {{{"TORCHELASTIC_RUN_ID", "exp_1.2"}}, "exp-1-2", "", "", "torchrun"},
  };
  for (const auto& row : rows) {
    const LaunchNames names = NamesOfLaunch(Of(row.variables));
    EXPECT_EQ(names.job, row.job);
    EXPECT_EQ(names.group, row.group) << row.job;
    EXPECT_EQ(names.node, row.node) << row.job;
    EXPECT_EQ(names.launcher, row.launcher) << row.job;
  }
}

TEST(Launcher, NobodyGivesNone) {
  for (const Variables& variables :
       {Variables{}, Variables{{"JOB_ID", "5"}}, Variables{{"TORCHELASTIC_RUN_ID", "none"}},
        Variables{{"SLURM_JOB_ID", "--"}}, Variables{{"HOSTNAME", "h"}}}) {
    const LaunchNames names = NamesOfLaunch(Of(variables));
    EXPECT_EQ(names.job, "");
    EXPECT_EQ(names.launcher, "");
  }
}

TEST(Launcher, EachLaunchOfOneSchedulerJobHasItsOwn) {
  EXPECT_EQ(JobOf(With(kSlurm, {{"SLURM_STEP_ID", "0"}})), "bert-4711");
  EXPECT_EQ(JobOf(With(kSlurm, {{"SLURM_STEP_ID", "2"}})), "bert-4711-s2");
  EXPECT_EQ(JobOf(With(kSlurm, {{"SLURM_STEP_ID", "4294967290"}})), "bert-4711");
  EXPECT_EQ(JobOf(With(kSlurm, {{"SLURM_RESTART_COUNT", "1"}})), "bert-4711-r1");
  EXPECT_EQ(JobOf(With(kArray, {{"SLURM_STEP_ID", "3"}})), "bert-4700-0-s3");
}

TEST(Launcher, AllNodesOfALaunchAgree) {
  const Variables first = With(kSlurm, {{"SLURM_NODEID", "0"}, {"SLURMD_NODENAME", "n1"}});
  const Variables other = With(kSlurm, {{"SLURM_NODEID", "9"}, {"SLURMD_NODENAME", "n10"}});
  EXPECT_EQ(JobOf(first), JobOf(other));
  for (const char* index : {"0", "2", "12"}) {
    const std::string pod = std::string("bert-2-") + index;
    EXPECT_EQ(JobOf(With(kPod, {{"HOSTNAME", pod}, {"JOB_COMPLETION_INDEX", index}})), "bert-2");
    EXPECT_EQ(JobOf(With(kPod, {{"POD_NAME", pod + "-2xk0p"}, {"JOB_COMPLETION_INDEX", index}})),
              "bert-2");
  }
}

// Pods named bert-master-0 and bert-worker-0: which part names the launch is unknown.
TEST(Launcher, PodsWithoutIndexNameOnlyALaunchOfOne) {
  const Variables pod = With(kPod, {{"HOSTNAME", "bert-worker-0"}});
  EXPECT_EQ(JobOf(With(pod, {{"WORLD_SIZE", "4"}})), "");
  EXPECT_EQ(JobOf(With(pod, {{"WORLD_SIZE", "4"}, {"TORCHELASTIC_RUN_ID", "bert"}})), "bert");
  EXPECT_EQ(JobOf(With(pod, {{"WORLD_SIZE", "8"}, {"LOCAL_WORLD_SIZE", "8"}})), "bert-worker-0");
}

TEST(Launcher, NamesAreOnesThatTheServiceTakes) {
  const Variables odd[] = {
      With(kSlurm, {{"SLURM_JOB_NAME", "__fine tune: Größe/7__"}}),
      With(kSlurm, {{"SLURM_JOB_NAME", std::string(300, 'x')}, {"SLURMD_NODENAME", "a\nb"}}),
      With(kSlurm, {{"SLURM_JOB_NAME", ""}}),
      With(kSlurm, {{"SLURM_JOB_ID", std::string(99, '7')}}),
      {{"TORCHELASTIC_RUN_ID", std::string(62, 'a') + "--b"}},
  };
  for (const Variables& variables : odd) {
    const LaunchNames names = NamesOfLaunch(Of(variables));
    EXPECT_TRUE(CheckJobName(names.job).ok()) << names.job;
    EXPECT_TRUE(names.group.empty() || CheckLabel("group", names.group).ok());
    EXPECT_EQ(names.node, "");
  }
  EXPECT_EQ(JobOf(odd[0]), "fine-tune-Gr-e-7-4711");
  EXPECT_TRUE(JobOf(odd[1]).ends_with("x-4711"));
  EXPECT_EQ(JobOf(odd[2]), "4711");
}

// Hydra gives every rank the environment of mpirun, so all nodes would be the first one.
TEST(Launcher, SaysWhichRankOfItsNodeAProcessIs) {
  EXPECT_EQ(LocalRankOf(Of({})), 0);
  EXPECT_EQ(LocalRankOf(Of({{"SLURM_LOCALID", "3"}})), 3);
  EXPECT_EQ(LocalRankOf(Of({{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "2"}})), 2)
      << "what the scheduler said was for mpirun";
  EXPECT_EQ(LocalRankOf(Of({{"SLURM_LOCALID", "5"}, {"LOCAL_RANK", "0"}})), 0);
  for (const char* text : {"", "x", "-1", "99999999999999999999"}) {
    EXPECT_EQ(LocalRankOf(Of({{"MPI_LOCALRANKID", text}})), 0) << text;
  }
}

TEST(Launcher, SaysWhetherAProcessIsTheFirstOfAll) {
  EXPECT_TRUE(IsFirstOfLaunch(Of({})));
  EXPECT_TRUE(IsFirstOfLaunch(Of({{"SLURM_PROCID", "0"}})));
  EXPECT_FALSE(IsFirstOfLaunch(Of({{"SLURM_PROCID", "9"}})));
  EXPECT_FALSE(IsFirstOfLaunch(Of({{"SLURM_PROCID", "0"}, {"PMI_RANK", "2"}})));
  EXPECT_TRUE(IsFirstOfLaunch(Of({{"RANK", "x"}})));
}

TEST(Launcher, DoesNotTrustANodeThatMpirunPassedOn) {
  const Variables step = With(kSlurm, {{"SLURMD_NODENAME", "n1"}});
  EXPECT_EQ(NamesOfLaunch(Of(With(step, {{"MPI_LOCALRANKID", "0"}}))).node, "");
  EXPECT_EQ(NamesOfLaunch(Of(With(step, {{"OMPI_COMM_WORLD_LOCAL_RANK", "0"}}))).node, "");
}

}  // namespace
}  // namespace stepscope
