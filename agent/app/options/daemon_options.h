#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/app/options/name_patterns.h"
#include "agent/app/options/node_job_options.h"
#include "agent/app/options/spool_options.h"
#include "core/base/options.h"
#include "core/base/result.h"

namespace stepscope {

// The checked options of `stepscope-agent daemon`.
struct DaemonOptions {
  NodeJobOptions jobs{};
  SpoolOptions spool{};
  std::string socket{};                  // empty: the node's socket
  bool allow_all = false;                // processes of every user may connect
  std::optional<std::uint32_t> group{};  // or only the members of this group
  NamePatterns names{};                  // jobs that a process may name
  WindowSchedule schedule{};
  std::string match{};  // pattern for processes that do not register; empty: none
};

std::vector<Option> DaemonOptionTable();
Result<DaemonOptions> ReadDaemonOptions(const Arguments& arguments);

}  // namespace stepscope
