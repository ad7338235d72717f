#include "server/store/ticks/series_range.h"

#include <algorithm>

#include "server/store/jobs/interval_requests.h"

namespace stepscope {

std::int64_t IntervalUs(const JobRow& job, std::int64_t from_us, std::int64_t to_us) {
  return LongestIntervalMs(job.configuration, from_us, to_us) * 1'000;
}

bool SamplesRemoved(const JobRow& job, std::int64_t from_us) {
  return from_us < job.samples_from_us;
}

SeriesRange WholeRange(JobHead head) {
  SeriesRange range{std::move(head.job), std::move(head.nodes), {}};
  range.from_us = range.to_us = range.job.started_us.value_or(range.job.created_us);
  if (!head.ranges.empty()) {
    range.from_us = std::ranges::min_element(head.ranges, {}, &TickRange::from_us)->from_us;
    range.to_us = std::ranges::max_element(head.ranges, {}, &TickRange::to_us)->to_us;
  }
  range.interval_us = IntervalUs(range.job, range.from_us, range.to_us);
  return range;
}

}  // namespace stepscope
