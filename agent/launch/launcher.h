#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace stepscope {

// The value of a variable of the environment; empty when it is not set.
using Environment = std::function<std::string(std::string_view name)>;

// What the environment says of a launch: the same job on all of its nodes, another for the next
// launch. Every name is one that the service takes, or empty.
struct LaunchNames {
  std::string job{}, group{}, node{};
  std::string launcher{};  // who says the job's name; empty: nobody
};

// STEPSCOPE_JOB, STEPSCOPE_GROUP and STEPSCOPE_NODE are the caller's to read: they go before.
LaunchNames NamesOfLaunch(const Environment& environment);

// The number of this process among those that the launcher started on this node; 0 where none says.
int LocalRankOf(const Environment& environment);

// Those whose names are understood, for people: "Slurm, LSF, ...".
std::string KnownLaunchers();

}  // namespace stepscope
