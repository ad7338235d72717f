#pragma once

// The parts that SumFleet adds up: one job's sums, its keys, and the first rows over time.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "server/report/fleet/fleet.h"

namespace stepscope {

// The part of the job's time that lies within a span, 0 to 1; of a job that lasted no time, all or
// nothing.
double PartWithin(const FleetJob& job, std::int64_t from_us, std::int64_t to_us);

// The job's sums, as far as `part` of its hours goes, 0 to 1.
FleetSums SumsOf(const FleetJob& job, double part);

// The cause that took most of the job's time; Cause::kBusy where nothing is known to be lost.
Cause FirstCauseOf(const FleetJob& job);

// Calls take(key, part) for each key of a job: the place of a text, or the number of its first
// cause. A job has one key and counts with all its hours, but by node one for each node with GPUs.
template <typename F>
void ForEachKey(const FleetJob& job, FleetBy by, F take) {
  switch (by) {
    case FleetBy::kUser:
      return take(std::size_t{job.user}, 1.0);
    case FleetBy::kAccount:
      return take(std::size_t{job.account}, 1.0);
    case FleetBy::kGroup:
      return take(std::size_t{job.group}, 1.0);
    case FleetBy::kGpu:
      return take(std::size_t{job.gpu}, 1.0);
    case FleetBy::kCause:
      return take(static_cast<std::size_t>(FirstCauseOf(job)), 1.0);
    case FleetBy::kNode:
      if (job.nodes.empty()) return take(std::size_t{0}, 1.0);
      for (const FleetNode& node : job.nodes) take(std::size_t{node.name}, double{node.part});
      return;
    case FleetBy::kJob:
      return;
  }
}

// Rows over time: the span in at most 31 slots of a length that people count in.
class GridFold {
 public:
  GridFold(std::int64_t from_us, std::int64_t to_us);

  bool empty() const { return grid_.rows.empty(); }
  // `key` is the place of a text, of a cause or of a job.
  void AddRow(std::size_t key, const std::string& name);
  // Counts `part` of the job's GPUs; a key without a row is left out.
  void Add(std::size_t key, const FleetJob& job, double part);
  FleetGrid Take() && { return std::move(grid_); }

 private:
  std::int64_t from_us_, to_us_;
  std::size_t slots_;
  FleetGrid grid_;
  std::vector<int> row_of_;  // by key; -1 = none
};

}  // namespace stepscope
