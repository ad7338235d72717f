#include "agent/launch/launcher.h"

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <iterator>

#include "core/base/text.h"
#include "core/model/names.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongest = 63;

// A variable that is appended to the job's number where one number stands for several launches.
struct LaunchPart {
  std::string_view prefix, variable;
  std::string_view nothing{};  // the value that means that there is none
};

struct Scheduler {
  std::string_view name, id;
  std::string_view sign;   // must be set too, since others use the name of `id`
  std::string_view title;  // the job's name that the user gave
  std::string_view node;
  LaunchPart parts[3];
};

constexpr LaunchPart kStep{"-s", "SLURM_STEP_ID", "0"};
constexpr LaunchPart kRequeue{"-r", "SLURM_RESTART_COUNT", "0"};

constexpr Scheduler kSchedulers[] = {
    {"Slurm",
     "SLURM_ARRAY_JOB_ID",
     "SLURM_ARRAY_TASK_ID",
     "SLURM_JOB_NAME",
     "SLURMD_NODENAME",
     {{"-", "SLURM_ARRAY_TASK_ID"}, kStep, kRequeue}},
    {"Slurm", "SLURM_JOB_ID", "", "SLURM_JOB_NAME", "SLURMD_NODENAME", {kStep, kRequeue}},
    {"LSF", "LSB_JOBID", "", "LSB_JOBNAME", "", {{"-", "LSB_JOBINDEX", "0"}}},
    {"PBS", "PBS_JOBID", "", "PBS_JOBNAME", "", {}},
    {"SGE", "JOB_ID", "SGE_TASK_ID", "JOB_NAME", "", {{"-", "SGE_TASK_ID", "undefined"}}},
};

// Makes a valid job name: every run of other characters becomes one '-'.
std::string Clean(std::string_view text) {
  std::string clean;
  for (const char c : text) {
    const bool taken = std::isalnum(static_cast<unsigned char>(c)) != 0 && c > 0;
    if (taken) clean += c;
    if (!taken && !clean.empty() && clean.back() != '-') clean += '-';
  }
  clean = clean.substr(0, kLongest);
  while (clean.ends_with('-')) clean.pop_back();
  return clean;
}

std::string AsLabel(const std::string& text) {
  return CheckLabel("label", text) ? text : "";
}

// The number is kept whole: it tells two launches apart.
std::string Join(std::string_view title, const std::string& number) {
  const std::size_t room = kLongest - std::min(kLongest, number.size() + 1);
  return Clean(Format("{}-{}", Clean(title).substr(0, room), number));
}

// The variables of Open MPI, MPICH and Intel MPI, MVAPICH, HPE PALS, torchrun, Slurm. A scheduler's
// variable is last: mpirun passes on the one that it was started with.
constexpr std::string_view kLocalRanks[] = {
    "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK",
    "PALS_LOCAL_RANKID",          "LOCAL_RANK",      "SLURM_LOCALID"};
// Variables that number a process among all nodes.
constexpr std::string_view kGlobalRanks[] = {
    "OMPI_COMM_WORLD_RANK", "PMI_RANK", "MV2_COMM_WORLD_RANK",
    "PALS_RANKID",          "RANK",     "SLURM_PROCID"};
constexpr std::int64_t kMostLocalRanks = 100'000;

// LSF writes the index of an array behind its name: "sweep[3]".
std::string_view TitleOf(std::string_view text) {
  return text.substr(0, text.find('['));
}

// PBS writes its host behind the number: "4711.head".
std::string_view NumberOf(std::string_view text) {
  return text.substr(0, text.find('.'));
}

std::string Number(const Scheduler& row, const Environment& environment) {
  std::string number = Clean(NumberOf(environment(row.id)));
  for (const LaunchPart& part : row.parts) {
    const std::string value = part.variable.empty() ? "" : environment(part.variable);
    // Slurm's own steps, a batch script and a shell, have numbers near 2^32.
    const bool counts = !value.empty() && value != part.nothing && value.size() < 10;
    if (counts) number += Format("{}{}", part.prefix, Clean(value));
  }
  return number;
}

bool Applies(const Scheduler& row, const Environment& environment) {
  return !Clean(NumberOf(environment(row.id))).empty() &&
         (row.sign.empty() || !environment(row.sign).empty());
}

// mpirun may pass the first node's variables on to all nodes.
bool StartedByMpirun(const Environment& environment) {
  return !environment("OMPI_COMM_WORLD_LOCAL_RANK").empty() ||
         !environment("MPI_LOCALRANKID").empty();
}

LaunchNames NamesOf(const Scheduler& row, const Environment& environment) {
  const std::string title(TitleOf(environment(row.title)));
  LaunchNames names{.job = Join(title, Number(row, environment)),
                    .group = AsLabel(title),
                    .launcher = std::string(row.name)};
  if (!row.node.empty() && !StartedByMpirun(environment)) {
    names.node = AsLabel(environment(row.node));
  }
  return names;
}

// Removes the index of a pod: "bert" of "bert-2" and of "bert-2-x7k2p", the second being pod 2 of
// an indexed Job.
std::string WithoutIndex(const std::string& pod, const std::string& index) {
  const std::string end = "-" + index;
  for (std::size_t at = pod.rfind(end); at != pod.npos && at > 0; at = pod.rfind(end, at - 1)) {
    const std::size_t behind = at + end.size();
    if (behind == pod.size() || pod[behind] == '-') return pod.substr(0, at);
  }
  return "";
}

// Whether the pods of one launch have nothing in common that could be its name.
bool OneOfSeveralPods(const Environment& environment) {
  const auto number = [&](std::string_view name) { return std::atoi(environment(name).c_str()); };
  return number("WORLD_SIZE") > std::max(1, number("LOCAL_WORLD_SIZE"));
}

std::string JobOfPod(const Environment& environment) {
  std::string pod = environment("POD_NAME");
  if (pod.empty()) pod = environment("HOSTNAME");
  const std::string index = environment("JOB_COMPLETION_INDEX");
  if (!index.empty()) return Clean(WithoutIndex(pod, index));
  return OneOfSeveralPods(environment) ? "" : Clean(pod);
}

LaunchNames NamesOfTorchrun(const Environment& environment) {
  const std::string id = environment("TORCHELASTIC_RUN_ID");
  // torchrun sets "none" when it was given no --rdzv-id.
  const std::string job = id == "none" ? "" : Clean(id);
  return {.job = job, .launcher = job.empty() ? "" : "torchrun"};
}

LaunchNames NamesOfKubernetes(const Environment& environment) {
  std::string job = JobOfPod(environment);
  LaunchNames names = job.empty() ? NamesOfTorchrun(environment)
                                  : LaunchNames{.job = job, .launcher = "Kubernetes"};
  names.group = AsLabel(environment("POD_NAMESPACE"));
  names.node = AsLabel(environment("NODE_NAME"));
  return names;
}

}  // namespace

LaunchNames NamesOfLaunch(const Environment& environment) {
  const auto row = std::ranges::find_if(
      kSchedulers, [&](const Scheduler& each) { return Applies(each, environment); });
  if (row != std::end(kSchedulers)) return NamesOf(*row, environment);
  if (!environment("KUBERNETES_SERVICE_HOST").empty()) return NamesOfKubernetes(environment);
  return NamesOfTorchrun(environment);
}

std::string AllowedJobName(std::string name) {
  const std::size_t first = name.find_first_not_of("_.");
  if (first != name.npos) name = name.substr(first, name.find_last_not_of("_.") + 1 - first);
  std::ranges::replace_if(
      name, [](char c) { return c == '_' || c == '.'; }, '-');
  return name;
}

int LocalRankOf(const Environment& environment) {
  for (const std::string_view name : kLocalRanks) {
    const auto rank = ParseInt(environment(name), name);
    if (rank) return static_cast<int>(std::clamp<std::int64_t>(*rank, 0, kMostLocalRanks));
  }
  return 0;
}

bool IsFirstOfLaunch(const Environment& environment) {
  for (const std::string_view name : kGlobalRanks) {
    const auto rank = ParseInt(environment(name), name);
    if (rank) return *rank == 0;
  }
  return true;
}

std::string KnownLaunchers() {
  std::string known;
  for (const Scheduler& row : kSchedulers) {
    if (known.find(row.name) == known.npos) known += Format("{}, ", row.name);
  }
  return known + "Kubernetes, torchrun";
}

}  // namespace stepscope
