#pragma once

#include <cstdint>
#include <functional>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"
#include "server/store/retention/removals.h"
#include "server/store/retention/stored_bytes.h"

namespace stepscope {

struct RetentionOptions {
  Duration keep_samples = std::chrono::hours(24) * 30;  // zero: for ever
  Duration keep_jobs = std::chrono::hours(24) * 400;    // after their end; zero: for ever
  std::int64_t keep_bytes = 0;                          // for all jobs together; zero: no limit
  Duration keep_always = std::chrono::hours(1);  // samples this new are never removed for the size
  Duration check_every = 5s;                     // between two checks for work
  Duration pause = 20ms;                         // at least, between two pieces
  int pause_factor = 10;                    // the pause after a piece, as a multiple of its time
  std::function<bool()> gives_way = {};     // pieces wait while it is true, 10 s each
  Duration search = std::chrono::hours(1);  // between two searches for old data
  Duration measure = std::chrono::minutes(10);  // between two measurements of the size
  std::int64_t rows_at_once = 100;
};

// The pause after a piece that took so long: 10 s at most, for that piece may have waited for a
// lock.
Duration PauseAfter(const RetentionOptions& options, Duration took);

// Counters since the start.
struct RetentionFigures {
  std::uint64_t jobs = 0, rows = 0, bytes = 0;    // jobs: not those that people deleted
  std::int64_t stored_bytes = 0, file_bytes = 0;  // when last measured; 0 without a limit
};

// Removes deleted jobs, old jobs, samples and records, and the oldest data above a size, in the
// background and in small transactions. Any number of replicas may do it: a deleted job's rows, or
// records, that one replica removes are skipped by the others; samples that several would remove
// are removed once, and the others wait for that.
class Retention {
 public:
  // Both references outlive this.
  Retention(Database& database, const Clock& clock, RetentionOptions options);

  RetentionFigures figures() const;

 private:
  void Work(const std::stop_token& stop);
  Status Turn(const std::stop_token& stop, Connection& connection);
  Status RemoveJobs(const std::stop_token& stop, Connection& connection);
  Status RemoveOldSamples(const std::stop_token& stop, Connection& connection);
  Status DeleteOldJobs(const std::stop_token& stop, Connection& connection);
  void RemoveRecords(const std::stop_token& stop, Connection& connection);
  Status RemoveOldRecords(const std::stop_token& stop, Connection& connection, OldRecords records,
                          Time before);
  Status RemovePieces(const std::stop_token& stop, const std::function<Result<Removed>()>& piece);
  Status DeleteListed(const std::stop_token& stop, Connection& connection,
                      const std::vector<EndedJob>& jobs);
  Result<bool> Delete(Connection& connection, const std::string& name, const std::string& reason);
  Result<std::int64_t> RemoveSamples(const std::stop_token& stop, Connection& connection,
                                     std::int64_t job_id, std::int64_t before_us,
                                     const std::function<Result<bool>()>& is_wanted = {});
  Status KeepSize(const std::stop_token& stop, Connection& connection);
  Status Shrink(const std::stop_token& stop, Connection& connection);
  Result<StoredBytes> Measure(Connection& connection);
  std::int64_t TooMuch(const StoredBytes& stored) const;
  Status RemoveSamplesOfAll(const std::stop_token& stop, Connection& connection,
                            std::int64_t before_us);
  Result<std::int64_t> DeleteOldestJobs(const std::stop_token& stop, Connection& connection,
                                        std::int64_t bytes);
  void Count(const Removed& removed);
  bool Pause(const std::stop_token& stop, SteadyTime began) const;

  Database& database_;
  const Clock& clock_;
  const RetentionOptions options_;
  Guarded<RetentionFigures> figures_;
  SteadyTime search_at_{}, measure_at_{};  // used by the thread alone
  bool warned_too_much_ = false;
  Worker worker_;  // last: its thread uses the members above
};

}  // namespace stepscope
