#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// Deletes a job: its name is free at once, in the caller's transaction; its rows are removed piece
// by piece afterwards, so that nobody waits for that. NotFound names the job.
Status DeleteJob(Connection& connection, const std::string& name, const std::string& reason,
                 std::int64_t now_us);

// Jobs whose rows are being removed, oldest first.
Result<std::vector<std::int64_t>> ListRemovals(Connection& connection);

// Whether rows of any job are still being removed.
Result<bool> RemovalsGoOn(Connection& connection);

struct Removed {
  std::int64_t rows = 0, bytes = 0;  // bytes: of payloads
};
// Removes up to `most` rows of one table, in a transaction of its own. A removal ends when nothing
// was found for a while: a late push may still have written something.
Result<Removed> RemoveSome(Connection& connection, std::int64_t job_id, std::int64_t most,
                           std::int64_t now_us);

struct EndedJob {
  std::int64_t job_id = 0;
  std::string name;
};
// Jobs that ended before a time, oldest first.
Result<std::vector<EndedJob>> ListJobsEndedBefore(Connection& connection, std::int64_t before_us);

// Jobs that may have samples from before a time, a page at a time by number; and the removal of up
// to `most` rows of them: blocks, steps and annotations go; the times of ticks and all rollups
// stay. The job has the time from which on it has samples as soon as the first row is gone.
Result<std::vector<std::int64_t>> ListJobsCreatedBefore(Connection& connection,
                                                        std::int64_t before_us,
                                                        std::int64_t after_job_id);
Result<Removed> RemoveSamplesBefore(Connection& connection, std::int64_t job_id,
                                    std::int64_t before_us, std::int64_t most);
// Removes up to `most` messages that were delivered or given up after their job was removed, in a
// transaction of its own; nothing while another replica removes records.
Result<Removed> RemoveMessagesOfGoneJobs(Connection& connection, std::int64_t most);
// Removes records that no job takes along: messages of no job that were delivered or given up, the
// record of changes, and removals that ended. Up to `most` from before a time.
enum class OldRecords { kMessages, kChanges, kRemovals };
Result<Removed> RemoveRecordsBefore(Connection& connection, OldRecords records,
                                    std::int64_t before_us, std::int64_t most);
// Notes the time also where there was nothing to remove.
Status NoteSamplesRemoved(Connection& connection, std::int64_t job_id, std::int64_t before_us);
// The time from which on the job has samples; 0: nothing was removed.
Result<std::int64_t> SamplesFrom(Connection& connection, std::int64_t job_id);

}  // namespace stepscope
