#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"
#include "agent/host/process.h"

namespace stepscope {

// The path of a process's group, below the folder of a controller. `text` is its /proc/PID/cgroup;
// "" as controller means version 2. Nothing when the process is in no such group.
std::optional<std::string_view> ParseCgroup(std::string_view text, std::string_view controller);

// Collects the agent's control group, which its command shares: a container, a job of Slurm, a
// service; every 2 s. Versions 1 and 2 of the kernel's interface, and both at once.
Result<std::unique_ptr<Collector>> MakeCgroupCollector(const std::string& root, TickRow& row);

// Collects the control group of the first of a job's processes, for an agent that did not start
// them. When that process has ended the next one counts. Objects that `list` uses outlive the
// collector.
std::unique_ptr<Collector> MakeJobCgroupCollector(const std::string& root, ListTraining list);

}  // namespace stepscope
