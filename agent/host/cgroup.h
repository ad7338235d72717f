#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "agent/collect/collector.h"
#include "agent/host/process.h"

namespace stepscope {

// Where the group of a process lies, below the folder of a controller. `text` is its
// /proc/PID/cgroup; "" as controller means version 2. Nothing when it is in no such group.
std::optional<std::string_view> ParseCgroup(std::string_view text, std::string_view controller);

// The control group of the agent, which is that of its command too: a container, a job of Slurm, a
// service; every 2 s. Versions 1 and 2 of the kernel's interface, and both at once.
Result<std::unique_ptr<Collector>> MakeCgroupCollector(const std::string& root, TickRow& row);

// The same of the first of a job's processes, wherever an agent runs that did not start it. When
// that one has ended the next one counts. What `list` uses outlives it.
std::unique_ptr<Collector> MakeJobCgroupCollector(const std::string& root, ListTraining list);

}  // namespace stepscope
