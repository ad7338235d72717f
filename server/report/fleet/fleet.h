#pragma once

// The hours of all GPUs in a span of time: how long jobs held them, how long they were busy, and
// what the other time was lost to.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rules/diagnosis/causes.h"
#include "server/report/fleet/fleet_table.h"

namespace stepscope {

inline constexpr std::int64_t kWeekUs = 7 * 86'400'000'000;

// What the rows of a fleet are by.
enum class FleetBy { kUser, kAccount, kGroup, kGpu, kJob, kNode, kCause };
inline constexpr std::string_view kFleetWords[] = {"user", "account", "group", "gpu",
                                                   "job",  "node",    "cause"};

// A job counts with the part of its hours that lies within the span, as if they were spread evenly
// over its time, and over the GPUs of its nodes: with a node, that node's GPUs alone count.
struct FleetQuestion {
  std::int64_t from_us = 0, to_us = 0;
  FleetBy by = FleetBy::kUser;
  std::optional<std::string> user, account, group, gpu, node;  // only jobs with these
  std::optional<Cause> cause;                                  // only jobs that lost most to it
  std::vector<std::string> scopes;    // as those of JobFilter; empty = all jobs
  std::size_t rows = 100, jobs = 20;  // at most so many
  int weeks = 12;                     // the trend's; the last one ends with the span
  std::size_t grid_rows = 20;         // rows of the grid, at most
};

// Sums over jobs; times are seconds of GPUs.
struct FleetSums {
  std::int64_t jobs = 0, running = 0, with_issues = 0;
  std::int64_t without_gpus = 0, judged_jobs = 0;  // jobs without GPUs; those whose time was judged
  double held = 0, judged = 0, busy = 0;
  TimeByCause lost;
  double priced = 0;               // held by jobs with a price
  double cost = 0, lost_cost = 0;  // money for the priced hours

  double Lost() const { return judged - busy; }
  double NotJudged() const { return held > judged ? held - judged : 0; }
  // The cause that took most, if any took time.
  std::optional<Cause> FirstCause() const;
  void Add(const FleetSums& other);
};

// One user, account, group, model, job, node or cause.
struct FleetRow {
  std::string key;          // "" where it is not known
  std::int64_t job_id = 0;  // number of the job, where rows are jobs
  FleetSums sums;
};
// A job with what the page shows of it.
struct FleetLoss {
  std::int64_t job_id = 0;
  std::string name, group, user, account, gpu;
  std::int64_t gpus = 0;
  std::string sentence;  // ReadJobSentences fills it in
  FleetSums sums;
};
struct FleetWeek {
  std::int64_t from_us = 0, to_us = 0;
  FleetSums sums;
};
// The first rows over the span, in slots of one length of which the last may be cut.
struct FleetGridRow {
  std::string key;
  std::vector<double> held, judged, lost;  // seconds of GPUs, one number a slot
};
struct FleetGrid {
  std::int64_t slot_us = 0;
  std::vector<FleetGridRow> rows;
};
struct Fleet {
  FleetSums total;
  std::vector<FleetRow> rows;    // those that lost most first
  std::int64_t rows_total = 0;   // with those that are not in `rows`
  std::vector<FleetLoss> jobs;   // that lost most
  std::vector<FleetWeek> weeks;  // oldest first
  FleetGrid grid;
  std::int64_t jobs_by_cause[kCauses] = {};  // jobs whose first cause it is
  std::int64_t left_out = 0;                 // older jobs that are not counted
};
Fleet SumFleet(const FleetJobs& jobs, const FleetQuestion& question);

}  // namespace stepscope
