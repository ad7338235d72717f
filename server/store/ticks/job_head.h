#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/store/jobs/jobs.h"
#include "server/store/ticks/short_range.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {

// The first and the last tick of a node, for the range of charts.
struct TickRange {
  std::int64_t node_id = 0, from_us = 0, to_us = 0;
};
Result<std::vector<TickRange>> ReadTickRanges(Connection&, std::int64_t job_id);

// A node of a job as charts need it, without the rest of NodeRow.
struct NodeBrief {
  std::int64_t node_id = 0;
  std::string name;
  std::int64_t last_seen_us = 0;
};

// The job of a chart with its nodes and their ticks, read in one statement.
struct JobHead {
  JobRow job;
  std::vector<NodeBrief> nodes;   // by name
  std::vector<TickRange> ranges;  // one for each node with ticks, unsorted
};
// The ticks that are searched for: up to four searches of an index for each node take most of a
// head's time. Times that are not wanted are 0.
struct RangesWanted {
  bool first = true, last = true;
  std::string node = {};  // this node only; empty = all
};
// NotFound names the job.
Result<JobHead> LoadJobHead(Connection& connection, const std::string& name,
                            const RangesWanted& wanted = {});

// A head with the ticks that its chart most likely reads, in one round trip.
struct HeadAndTicks {
  JobHead head;
  std::optional<FetchedTicks> ticks;  // for TickQuery::fetched; nullopt: not read
};
// `expected` is a short range that follows from a head read earlier. Where it is wrong, PostgreSQL
// did some work for nothing, and no answer changes: its rows are not used.
Result<HeadAndTicks> LoadHeadAndTicks(Connection& connection, const std::string& name,
                                      const RangesWanted& wanted,
                                      const std::optional<TickQuery>& expected);

}  // namespace stepscope
