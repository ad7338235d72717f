#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/store/jobs/jobs.h"
#include "server/store/ticks/series.h"

namespace stepscope {

// A node of a job as its charts need it: NodeRow has the rest.
struct NodeBrief {
  std::int64_t node_id = 0;
  std::string name;
  std::int64_t last_seen_us = 0;
};

// What every chart begins with, in one statement.
struct JobHead {
  JobRow job;
  std::vector<NodeBrief> nodes;   // by name
  std::vector<TickRange> ranges;  // of the nodes that have ticks, in no order
};
// Which ticks are looked for. Up to four looks into an index for each node are most of the time
// that a head takes. What was not looked for is 0.
struct RangesWanted {
  bool first = true, last = true;
  std::string node = {};  // this one only; empty: all
};
// NotFound names the job. `next` is what will most likely be asked next, by key (Connection).
Result<JobHead> LoadJobHead(Connection& connection, const std::string& name,
                            const RangesWanted& wanted = {},
                            const std::optional<Statement>& next = {});

}  // namespace stepscope
