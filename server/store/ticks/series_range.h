#pragma once

#include <cstdint>
#include <vector>

#include "server/store/ticks/job_head.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// Time between two samples of this range, as the job was told to measure; the longest where it was
// changed.
std::int64_t IntervalUs(const JobRow& job, std::int64_t from_us, std::int64_t to_us);

// Whether samples of a range that begins then were removed, for their age or for the size of all;
// their rollups stay.
bool SamplesRemoved(const JobRow& job, std::int64_t from_us);

// Series of some nodes of a job, and a stretch of time.
struct SeriesRange {
  JobRow job;
  std::vector<NodeBrief> nodes;
  TickFilter filter;
  std::int64_t from_us = 0, to_us = 0, interval_us = 1;
};

// All that a job has. Of a head whose ranges were read; one without ticks begins and ends with the
// job.
SeriesRange WholeRange(JobHead head);

}  // namespace stepscope
