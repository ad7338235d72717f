#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "server/report/measure/rank_summaries.h"

namespace stepscope {

// The lengths of the phases of a job in seconds; evaluations lie within its training.
struct JobPhases {
  double initialisation = 0, training = 0, evaluation = 0, finalisation = 0;
};

// The parts of a job: initialisation, the training loop with its evaluations, and finalisation.
// Times are in microseconds since the epoch. The diagnosis knows the phases where it divides up the
// job's time; only where it does not are they taken from the first and last step.
struct JobTimes {
  std::int64_t from_us = 0;  // the first sample; the creation of a job that has none
  std::int64_t to_us = 0;    // the end; the time of the report while the job runs
  bool ended = false;
  std::optional<std::int64_t> loop_from_us, loop_to_us;  // none without steps

  std::optional<JobPhases> phases;  // where the diagnosis knows them

  double Seconds() const;
  // A part's length in seconds; none while it is not known. Finalisation is known only when the job
  // has ended.
  std::optional<double> Initialisation() const;
  std::optional<double> Loop() const;
  std::optional<double> Evaluation() const;
  std::optional<double> Finalisation() const;
};

struct LoopTimes {
  std::int64_t from_us = 0, to_us = 0;
};
// The loop from the begin of the first step of any of these ranks to the end of the last step:
// exact for the rank that began its last steps last.
Result<std::optional<LoopTimes>> ReadLoop(Connection& connection, std::int64_t job_id,
                                          std::span<const RankSummary> ranks);

}  // namespace stepscope
