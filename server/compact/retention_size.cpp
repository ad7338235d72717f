// The part of Retention that keeps all jobs together below a size: the oldest samples of all jobs
// go first, then whole jobs that have ended. Recent samples, and everything a running job needs,
// stay whatever the size.

#include "core/base/log.h"
#include "server/compact/retention.h"

namespace stepscope {

Status Retention::KeepSize(const std::stop_token& stop, Connection& connection) {
  if (options_.keep_bytes == 0 || clock_.Steady() < measure_at_) return {};
  // While removals are under way nothing is measured: their rows do not count, but would be
  // measured.
  const Result<bool> going = RemovalsGoOn(connection);
  if (!going) return going.error();
  if (*going) return {};
  measure_at_ = clock_.Steady() + options_.measure;
  const Result<bool> ours = TryLockSize(connection);
  if (!ours) return ours.error();
  if (!*ours) return {};  // another replica does it
  const Status done = Shrink(stop, connection);
  UnlockSize(connection);
  return done;
}

Status Retention::Shrink(const std::stop_token& stop, Connection& connection) {
  Result<StoredBytes> stored = Measure(connection);
  if (!stored) return stored.error();
  const std::int64_t latest_us = ToMicros(clock_.Now() - options_.keep_always);
  const std::int64_t before_us = TimeToFree(*stored, TooMuch(*stored), latest_us);
  if (before_us > 0) {
    LogInfo("{} bytes are stored, {} may be: samples from before {} are removed", stored->live,
            options_.keep_bytes, ToRfc3339(FromMicros(before_us)));
    Status removed = RemoveSamplesOfAll(stop, connection, before_us);
    if (!removed || stop.stop_requested()) return removed;
    stored = Measure(connection);
    if (!stored) return stored.error();
  }
  const std::int64_t too_much = TooMuch(*stored);
  if (too_much == 0) {
    warned_too_much_ = false;
    return {};
  }
  const Result<std::int64_t> left = DeleteOldestJobs(stop, connection, too_much);
  if (!left) return left.error();
  if (*left > 0 && !warned_too_much_ && !stop.stop_requested()) {
    LogWarning("{} bytes are stored, {} may be: what is left is too new to be removed",
               stored->live, options_.keep_bytes);
    warned_too_much_ = true;
  }
  return {};
}

Result<StoredBytes> Retention::Measure(Connection& connection) {
  Result<StoredBytes> stored = MeasureStored(connection);
  if (!stored) return stored;
  figures_.Change([&](RetentionFigures& figures) {
    figures.stored_bytes = stored->live;
    figures.file_bytes = stored->files;
  });
  return stored;
}

// The bytes to remove to get from above the limit to nine tenths of it, which leaves room until the
// next time.
std::int64_t Retention::TooMuch(const StoredBytes& stored) const {
  if (stored.live <= options_.keep_bytes) return 0;
  return stored.live - options_.keep_bytes / 10 * 9;
}

Status Retention::RemoveSamplesOfAll(const std::stop_token& stop, Connection& connection,
                                     std::int64_t before_us) {
  for (std::int64_t after = 0; !stop.stop_requested();) {
    const auto jobs = ListJobsCreatedBefore(connection, before_us, after);
    if (!jobs) return jobs.error();
    if (jobs->empty()) return {};
    for (const std::int64_t job_id : *jobs) {
      const Result<std::int64_t> rows = RemoveSamples(stop, connection, job_id, before_us);
      if (!rows) return rows.error();
    }
    after = jobs->back();
  }
  return {};
}

// Returns the bytes that are still too many.
Result<std::int64_t> Retention::DeleteOldestJobs(const std::stop_token& stop,
                                                 Connection& connection, std::int64_t bytes) {
  const auto sizes = MeasureJobs(connection);
  if (!sizes) return sizes.error();
  while (bytes > 0 && !stop.stop_requested()) {
    const auto jobs =
        ListJobsEndedBefore(connection, ToMicros(clock_.Now() - options_.keep_always));
    if (!jobs) return jobs.error();
    if (jobs->empty()) break;
    for (const EndedJob& job : *jobs) {
      if (bytes <= 0) break;
      const Result<bool> deleted = Delete(connection, job.name, "size");
      if (!deleted) return deleted.error();
      if (!*deleted) continue;
      LogInfo("job {} is the oldest and too much is stored: removed", job.name);
      const auto size = sizes->find(job.job_id);
      bytes -= size == sizes->end() ? 0 : size->second;
    }
  }
  return bytes;
}

}  // namespace stepscope
