#pragma once

#include <cstdint>
#include <vector>

#include "server/store/ticks/job_head.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// The interval of the samples in this range, as the job was configured; the longest where it was
// changed.
std::int64_t IntervalUs(const JobRow& job, std::int64_t from_us, std::int64_t to_us);

// Whether samples of a range that begins then were removed, for their age or for the size of all;
// their rollups stay.
bool SamplesRemoved(const JobRow& job, std::int64_t from_us);

// The series of some nodes of a job, and a range of time.
struct SeriesRange {
  JobRow job;
  std::vector<NodeBrief> nodes;
  TickFilter filter;
  std::int64_t from_us = 0, to_us = 0, interval_us = 1;
};

// The whole range of a job. Needs a head whose ranges were read; a job without ticks has the job's
// own start and end.
SeriesRange WholeRange(JobHead head);

}  // namespace stepscope
