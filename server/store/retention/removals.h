#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// Deleting a job takes its name away at once, in the caller's transaction; its rows are removed
// piece by piece afterwards, so that nobody waits for it. NotFound names the job.
Status DeleteJob(Connection& connection, const std::string& name, const std::string& reason,
                 std::int64_t now_us);

// Jobs whose rows are being removed, oldest first.
Result<std::vector<std::int64_t>> ListRemovals(Connection& connection);

// Whether rows of some are still being removed.
Result<bool> RemovalsGoOn(Connection& connection);

struct Removed {
  std::int64_t rows = 0, bytes = 0;  // bytes: of payloads
};
// Removes up to `most` rows of one table, in a transaction of its own. A removal ends when nothing
// was left for a while: a push that was on its way may still have written something.
Result<Removed> RemoveSome(Connection& connection, std::int64_t job_id, std::int64_t most,
                           std::int64_t now_us);

struct EndedJob {
  std::int64_t job_id = 0;
  std::string name;
};
// Jobs that ended before a time, oldest first.
Result<std::vector<EndedJob>> ListJobsEndedBefore(Connection& connection, std::int64_t before_us);

// Jobs that may have samples from before a time, a page at a time by number; and up to `most` rows
// of them removed: blocks, steps and annotations go; the times of ticks and all rollups stay. The
// job says from which time on it has samples as soon as the first row is gone.
Result<std::vector<std::int64_t>> ListJobsCreatedBefore(Connection& connection,
                                                        std::int64_t before_us,
                                                        std::int64_t after_job_id);
Result<Removed> RemoveSamplesBefore(Connection& connection, std::int64_t job_id,
                                    std::int64_t before_us, std::int64_t most);
// Records, also up to `most` in a transaction of their own; none while another replica is at them.
// Messages to webhooks that were delivered or given up after their job was removed:
Result<Removed> RemoveMessagesOfGoneJobs(Connection& connection, std::int64_t most);
// What no job takes along: messages of no job that were delivered or given up, who changed what,
// and removals that ended. Up to `most` from before a time.
enum class OldRecords { kMessages, kChanges, kRemovals };
Result<Removed> RemoveRecordsBefore(Connection& connection, OldRecords records,
                                    std::int64_t before_us, std::int64_t most);
// Said also where there was nothing to remove.
Status NoteSamplesRemoved(Connection& connection, std::int64_t job_id, std::int64_t before_us);
// From when on the job has samples; 0: nothing was removed.
Result<std::int64_t> SamplesFrom(Connection& connection, std::int64_t job_id);

}  // namespace stepscope
