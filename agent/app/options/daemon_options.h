#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "agent/app/options/node_job_options.h"
#include "agent/app/options/spool_options.h"
#include "core/base/options.h"
#include "core/base/result.h"

namespace stepscope {

// What `stepscope-agent daemon` was told, checked.
struct DaemonOptions {
  NodeJobOptions jobs{};
  SpoolOptions spool{};
  std::string socket{};                  // empty: that of the node
  bool allow_all = false;                // processes of every user are heard
  std::optional<std::uint32_t> group{};  // or of the members of this group
  std::string match{};                   // processes that do not register; empty: none
};

std::vector<Option> DaemonOptionTable();
Result<DaemonOptions> ReadDaemonOptions(const Arguments& arguments);

}  // namespace stepscope
