#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace stepscope {

// The value of a variable of the environment; empty when it is not set.
using Environment = std::function<std::string(std::string_view name)>;

// The names that the environment gives a launch: the same job on all of its nodes, another for the
// next launch. Every name is valid for the service, or empty.
struct LaunchNames {
  std::string job{}, group{}, node{};
  std::string launcher{};  // launcher that names the job; empty: none does
};

// STEPSCOPE_JOB, STEPSCOPE_GROUP and STEPSCOPE_NODE are not read here: the caller reads them first.
LaunchNames NamesOfLaunch(const Environment& environment);

// A name that a user gave with '_' and '.', which a job's name cannot have: they become '-', and
// are left out at its ends. Other characters stay, for the error that names them.
std::string AllowedJobName(std::string name);

// The number of this process among the processes that the launcher started on this node; 0 without
// a launcher.
int LocalRankOf(const Environment& environment);

// Whether this is the first of all processes that the launcher started, on any node; true without a
// launcher.
bool IsFirstOfLaunch(const Environment& environment);

// The launchers whose variables are understood, for people: "Slurm, LSF, ...".
std::string KnownLaunchers();

}  // namespace stepscope
