#pragma once

#include <functional>
#include <optional>
#include <span>

#include "server/api/query.h"
#include "server/front/route.h"
#include "server/store/job_head.h"
#include "server/store/tick_table.h"

namespace stepscope {

// What the calls that read series have in common.

inline constexpr std::int64_t kLatestUs = (std::int64_t{1} << 53) - 1;

// Time between two samples of this range, as the job was told to measure; the longest where it was
// changed.
std::int64_t IntervalUs(const JobRow& job, std::int64_t from_us, std::int64_t to_us);

// Whether samples of a range that begins then were removed, for their age or for the size of all;
// their rollups stay.
bool SamplesRemoved(const JobRow& job, std::int64_t from_us);

// A `metric` or `node` of the query that there is not: the parameter, and what is wrong with it.
struct SeriesFault {
  std::string parameter, detail;
};
std::optional<SeriesFault> FindSeriesFault(const Query& query, const std::vector<NodeBrief>& nodes);

// The series of a job that a query asks for, and the stretch of time: all there is when left out.
struct SeriesRange {
  JobRow job;
  std::vector<NodeBrief> nodes;
  TickFilter filter;
  std::int64_t from_us = 0, to_us = 0, interval_us = 1;
};
using SeriesCall = std::function<Result<Reply>(const SeriesRange&, const Query&)>;

// Reads and checks job and query (metric, node, device, from_us and to_us, where its table has
// them), refuses what is wrong, else calls.
Result<Reply> ForSeries(Connection& connection, const Request& request, const PathParameters& path,
                        std::span<const QueryParameter> table, const SeriesCall& call);

}  // namespace stepscope
