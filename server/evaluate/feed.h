#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "rules/engine/rule.h"
#include "server/evaluate/job_reads.h"
#include "server/evaluate/job_view.h"
#include "server/evaluate/watermark.h"

namespace stepscope {

struct FeedOptions {
  Duration scan_interval = 60s;   // in time of the data
  std::size_t cells = 2'000'000;  // read in one turn: ticks x columns, of all nodes together
  std::size_t steps = 50'000;     // read in one turn, of all ranks together
};

// Ticks of a node that are new to a rule, in time order.
struct NewTicks {
  std::string node;
  std::vector<JobReads::Ticks> tables;
  std::size_t table = 0, row = 0;  // the next row to show

  std::optional<Time> Next() const;  // time of the next row; nothing when all are shown
};
struct NewSteps {
  int rank = 0;
  std::string node;
  JobReads::Steps steps;
};
// The stored data of a job that is new to a rule, as much as one turn takes.
struct NewRows {
  std::vector<NewTicks> ticks;
  std::vector<NewSteps> steps;
  std::size_t count = 0;            // ticks and steps
  std::optional<Time> until;        // every stored tick up to here is among them
  std::optional<Time> steps_until;  // the end of the steps that were read; nothing when all were
  bool full = false;                // there is more than one turn takes
};

// Reads the data after the watermark: steps and ticks if they are needed, ticks up to `horizon`.
// Ticks from before the last scan came too late and are left out.
Result<NewRows> ReadNewRows(JobReads& reads, const Needs& needs, const JobView& view,
                            const Watermark& watermark, std::optional<Time> horizon,
                            const FeedOptions& options);

// Shows the rows to the fold, with a scan at each multiple of the interval since the job's first
// tick and checks between scans (rules/engine/next_check.h), and moves the watermark. Scan
// intervals without ticks have no scan. `last` adds the scan at the end of the job.
void FeedRows(NewRows& rows, Duration scan_interval, bool last, Watermark& watermark, Fold& fold);

}  // namespace stepscope
