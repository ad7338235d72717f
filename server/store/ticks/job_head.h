#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/store/jobs/jobs.h"
#include "server/store/ticks/short_range.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {

// First and last tick of each node, for the range of charts.
struct TickRange {
  std::int64_t node_id = 0, from_us = 0, to_us = 0;
};
Result<std::vector<TickRange>> ReadTickRanges(Connection&, std::int64_t job_id);

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
// NotFound names the job.
Result<JobHead> LoadJobHead(Connection& connection, const std::string& name,
                            const RangesWanted& wanted = {});

// A head with the ticks that its chart most likely reads, in one round trip.
struct HeadAndTicks {
  JobHead head;
  std::optional<FetchedTicks> ticks;  // for TickQuery::fetched; nothing: not asked
};
// `expected` is a short range, as a head that was read before lets expect it. A wrong one costs
// what PostgreSQL did for it, and changes no answer: nobody takes its rows.
Result<HeadAndTicks> LoadHeadAndTicks(Connection& connection, const std::string& name,
                                      const RangesWanted& wanted,
                                      const std::optional<TickQuery>& expected);

}  // namespace stepscope
