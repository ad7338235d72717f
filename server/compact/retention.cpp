#include "server/compact/retention.h"

#include <algorithm>

#include "core/base/log.h"
#include "server/store/jobs/job_retention.h"

namespace stepscope {

namespace {

constexpr Duration kLongestPause = 10s;
constexpr Duration kWait = 100ms;
constexpr int kMostWaits =
    100;  // then a piece runs all the same, for it may free room that is short

}  // namespace

Duration PauseAfter(const RetentionOptions& options, Duration took) {
  return std::max(options.pause, std::min<Duration>(options.pause_factor * took, kLongestPause));
}

Retention::Retention(Database& database, const Clock& clock, RetentionOptions options)
    : database_(database), clock_(clock), options_(options) {
  worker_ = Worker("retention", [this](const std::stop_token& stop) { Work(stop); });
}

RetentionFigures Retention::figures() const {
  return figures_.Read([](const RetentionFigures& figures) { return figures; });
}

void Retention::Work(const std::stop_token& stop) {
  while (SleepFor(stop, options_.check_every)) {
    auto connection = database_.Acquire();
    if (!connection) continue;
    const Status done = Turn(stop, **connection);
    if (!done) LogWarning("retention: {}", done.error().message);
  }
}

Status Retention::Turn(const std::stop_token& stop, Connection& connection) {
  if (Status done = RemoveJobs(stop, connection); !done) return done;
  const bool search = clock_.Steady() >= search_at_;
  if (search) {
    search_at_ = clock_.Steady() + options_.search;
    if (Status done = DeleteOldJobs(stop, connection); !done) return done;
    if (Status done = RemoveOldSamples(stop, connection); !done) return done;
  }
  if (Status done = KeepSize(stop, connection); !done) return done;
  if (search) RemoveRecords(stop, connection);
  return {};
}

Status Retention::RemoveJobs(const std::stop_token& stop, Connection& connection) {
  const auto jobs = ListRemovals(connection);
  if (!jobs) return jobs.error();
  for (const std::int64_t job_id : *jobs) {
    const Status done = RemovePieces(stop, [&] {
      return RemoveSome(connection, job_id, options_.rows_at_once, ToMicros(clock_.Now()));
    });
    if (!done) return done;
  }
  return {};
}

// Takes a list at a time, until one is empty: more may have ended in an hour than one list holds.
Status Retention::DeleteOldJobs(const std::stop_token& stop, Connection& connection) {
  if (options_.keep_jobs == Duration::zero()) return {};
  for (bool some = true; some && !stop.stop_requested();) {
    const SteadyTime began = clock_.Steady();
    const auto jobs = ListJobsEndedBefore(connection, ToMicros(clock_.Now() - options_.keep_jobs));
    if (!jobs) return jobs.error();
    if (Status done = DeleteListed(stop, connection, *jobs); !done) return done;
    some = !jobs->empty() && Pause(stop, began);
  }
  return {};
}

Status Retention::DeleteListed(const std::stop_token& stop, Connection& connection,
                               const std::vector<EndedJob>& jobs) {
  for (const EndedJob& job : jobs) {
    if (stop.stop_requested()) break;
    const Result<bool> deleted = Delete(connection, job.name, "age");
    if (!deleted) return deleted.error();
    if (*deleted) LogInfo("job {} ended long ago: removed", job.name);
  }
  return {};
}

// Removes records that no job takes along (docs/decisions/0049-old-records.md). Last, and each kind
// by itself: where one may not be removed, such as changes without the right to, the others are.
void Retention::RemoveRecords(const std::stop_token& stop, Connection& connection) {
  const auto say = [](const Status& done) {
    if (!done) LogWarning("retention: {}", done.error().message);
  };
  say(RemovePieces(stop,
                   [&] { return RemoveMessagesOfGoneJobs(connection, options_.rows_at_once); }));
  if (options_.keep_jobs == Duration::zero()) return;
  const Time before = clock_.Now() - options_.keep_jobs;
  for (const OldRecords records :
       {OldRecords::kMessages, OldRecords::kChanges, OldRecords::kRemovals}) {
    say(RemoveOldRecords(stop, connection, records, before));
  }
}

// Logs once a search that the record of changes was shortened.
Status Retention::RemoveOldRecords(const std::stop_token& stop, Connection& connection,
                                   OldRecords records, Time before) {
  bool said = records != OldRecords::kChanges;
  return RemovePieces(stop, [&] {
    Result<Removed> removed =
        RemoveRecordsBefore(connection, records, ToMicros(before), options_.rows_at_once);
    if (removed && removed->rows > 0 && !said) {
      LogInfo("who changed what before {}: removed", ToRfc3339(before));
      said = true;
    }
    return removed;
  });
}

// Repeats `piece` until it removes nothing.
Status Retention::RemovePieces(const std::stop_token& stop,
                               const std::function<Result<Removed>()>& piece) {
  for (bool some = true; some && !stop.stop_requested();) {
    const SteadyTime began = clock_.Steady();
    const Result<Removed> removed = piece();
    if (!removed) return removed.error();
    Count(*removed);
    some = removed->rows > 0 && Pause(stop, began);
  }
  return {};
}

// False: another replica was faster.
Result<bool> Retention::Delete(Connection& connection, const std::string& name,
                               const std::string& reason) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  const Status deleted = DeleteJob(connection, name, reason, ToMicros(clock_.Now()));
  if (!deleted && deleted.error().code == Code::kNotFound) return false;
  if (!deleted) return deleted.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  figures_.Change([](RetentionFigures& figures) { ++figures.jobs; });
  return true;
}

Status Retention::RemoveOldSamples(const std::stop_token& stop, Connection& connection) {
  const std::int64_t keeps_us = options_.keep_samples / 1us;
  const auto jobs = ListOldSamples(connection, ToMicros(clock_.Now()), keeps_us);
  if (!jobs) return jobs.error();
  for (const OldSamples& old : *jobs) {
    const auto is_wanted = [&] {
      return AreStillOld(connection, old, ToMicros(clock_.Now()), keeps_us);
    };
    const Result<std::int64_t> rows =
        RemoveSamples(stop, connection, old.job_id, old.before_us, is_wanted);
    if (!rows) return rows.error();
    if (stop.stop_requested()) return {};
    if (*rows > 0) continue;  // the pieces have logged it
    const Result<bool> all = is_wanted();
    if (!all) return all.error();
    if (!*all) continue;
    const Status noted = NoteSamplesRemoved(connection, old.job_id, old.before_us);
    if (!noted) return noted;
  }
  return {};
}

// Returns the number of removed rows. `is_wanted` is asked before each piece whether to continue.
Result<std::int64_t> Retention::RemoveSamples(const std::stop_token& stop, Connection& connection,
                                              std::int64_t job_id, std::int64_t before_us,
                                              const std::function<Result<bool>()>& is_wanted) {
  std::int64_t rows = 0;
  for (bool some = true; some && !stop.stop_requested();) {
    const SteadyTime began = clock_.Steady();
    const Result<bool> wanted = is_wanted ? is_wanted() : Result<bool>(true);
    if (!wanted) return wanted.error();
    if (!*wanted) break;
    const Result<Removed> removed =
        RemoveSamplesBefore(connection, job_id, before_us, options_.rows_at_once);
    if (!removed) return removed.error();
    Count(*removed);
    rows += removed->rows;
    some = removed->rows > 0 && Pause(stop, began);
  }
  return rows;
}

// Ingest goes first: a piece keeps the disk busy for longer than it runs.
bool Retention::Pause(const std::stop_token& stop, SteadyTime began) const {
  bool goes_on = SleepFor(stop, PauseAfter(options_, clock_.Steady() - began));
  for (int waits = 0; goes_on && waits < kMostWaits; ++waits) {
    if (!options_.gives_way || !options_.gives_way()) break;
    goes_on = SleepFor(stop, kWait);
  }
  return goes_on;
}

void Retention::Count(const Removed& removed) {
  figures_.Change([&](RetentionFigures& figures) {
    figures.rows += static_cast<std::uint64_t>(removed.rows);
    figures.bytes += static_cast<std::uint64_t>(removed.bytes);
  });
}

}  // namespace stepscope
