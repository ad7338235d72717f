#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "server/store/jobs/jobs.h"

namespace stepscope {

inline constexpr std::size_t kSparkPoints = 24;
using Sparkline = std::array<std::optional<double>, kSparkPoints>;

// The samples of a job as the list of jobs shows them.
struct JobSummary {
  // From the first rank's first step to its last, where steps are known; else of all the time.
  std::optional<double> mean_cpu_percent, mean_gpu_percent;
  Sparkline cpu{}, gpu{};
  std::optional<double> median_step_seconds;  // steps of the first rank, over its last ten minutes
};

// Reads a bounded part of each job: all samples of a short job, ten seconds out of each of the 24
// parts of a long one, of at most four nodes. Summaries of finished jobs are remembered, those of
// running ones for some seconds. Safe from any thread.
class JobSummaries {
 public:
  explicit JobSummaries(const Clock& clock) : clock_(clock) {}

  Result<JobSummary> Of(Connection& connection, const JobRow& job);

  // The remembered summary, however old.
  std::optional<JobSummary> Remembered(std::int64_t job_id) const;

 private:
  struct Entry {
    JobSummary summary;
    SteadyTime until{};
  };
  const Clock& clock_;
  Guarded<std::map<std::int64_t, Entry>> entries_;
};

}  // namespace stepscope
