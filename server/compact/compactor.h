#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/base/worker.h"
#include "server/compact/compact_node.h"
#include "server/store/retention/compact_tasks.h"

namespace stepscope {

struct CompactorOptions {
  Duration every = 300s;      // between two compactions of a running job, +- 20 %
  Duration check_every = 5s;  // between two checks for work
  Duration find = 30s;        // between two counts of all waiting frames, which cost more
  Duration lease = 120s;      // a dead compactor's job is taken over after this
  std::string name;           // unique among all compactors of the database; empty: made here
  // Asked before each piece of work, and no work begins while it is true: blocks are written before
  // their frames are gone, so on a disk that is nearly full frames stay frames. Empty: never.
  std::function<bool()> paused;
};

// Counters since the start.
struct CompactorFigures {
  std::uint64_t frames = 0, blocks = 0, rows_left_out = 0, rows_joined = 0, failures = 0;
  std::uint64_t busy_ns = 0;
  CompactBacklog backlog;  // all jobs, whoever compacts them, when last counted
};

// Turns frames into blocks and rollups in the background: one thread that leases a job at a time,
// so that any number of replicas share the work. While the database is away nothing is lost: frames
// stay frames. A node that fails, also for want of memory, is logged, counted, and tried again with
// the job's next compaction.
class Compactor {
 public:
  // Both references outlive this.
  Compactor(Database& database, const Clock& clock, CompactorOptions options);

  CompactorFigures figures() const;

 private:
  void Work(const std::stop_token& stop);
  void Turn(const std::stop_token& stop);
  bool MayGoOn(const std::stop_token& stop) const;
  bool WorkOnce(const std::stop_token& stop);
  void CountBacklog();
  Status CompactJob(const std::stop_token& stop, Connection& connection, const CompactTask& task);
  Status CompactNodes(const std::stop_token& stop, Connection& connection, const CompactTask& task,
                      const std::vector<std::int64_t>& nodes);
  // Compacts each rank with frames of a kind; returns whether there was one.
  using CompactRank = Result<Compacted> (*)(Connection&, std::int64_t, const RankOfNode&);
  Result<bool> CompactRanks(const std::stop_token& stop, Connection& connection,
                            const CompactTask& task, FrameKind kind, CompactRank compact);
  Status Drain(const std::stop_token& stop, Connection& connection, const CompactTask& task,
               const std::string& what, const std::function<Result<Compacted>()>& compact);
  void Fail(const std::string& what, const Error& error);
  void Count(const Compacted& done, Duration took);

  Database& database_;
  const Clock& clock_;
  const CompactorOptions options_;
  Guarded<CompactorFigures> figures_;
  SteadyTime count_at_{};  // used by the thread alone
  Worker worker_;          // last: its thread uses the members above
};

}  // namespace stepscope
