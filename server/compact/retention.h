#pragma once

#include <cstdint>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"
#include "server/store/removals.h"

namespace stepscope {

struct RetentionOptions {
  Duration keep_samples = std::chrono::hours(24) * 30;  // zero: for ever
  Duration keep_jobs = std::chrono::hours(24) * 400;    // after their end; zero: for ever
  Duration look = 5s;                                   // between two looks for work
  Duration pause = 20ms;                                // between two pieces: ingest goes first
  Duration search = std::chrono::hours(1);              // between two searches for what is old
  std::int64_t rows_at_once = 500;
};

// Since the start.
struct RetentionFigures {
  std::uint64_t jobs = 0, rows = 0, bytes = 0;  // jobs: those too old, not those people deleted
};

// Removes what people deleted and what is too old, in the background and in small transactions.
// Any number of replicas may do it: a piece that one is at is left out by the others.
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
  Status DeleteOldJobs(Connection& connection);
  void Count(const Removed& removed);

  Database& database_;
  const Clock& clock_;
  const RetentionOptions options_;
  Guarded<RetentionFigures> figures_;
  SteadyTime search_at_{};  // of the thread alone
  Worker worker_;           // last: its thread uses the rest
};

}  // namespace stepscope
