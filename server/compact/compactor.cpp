#include "server/compact/compactor.h"

#include "core/base/log.h"
#include "core/base/random.h"
#include "server/compact/compact_annotations.h"
#include "server/compact/compact_steps.h"
#include "server/compact/fold_job.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rollups/job_rollups.h"

namespace stepscope {
namespace {

CompactorOptions Named(CompactorOptions options) {
  if (options.name.empty()) options.name = "compactor-" + ToHex(RandomBytes(8));
  return options;
}

// Turns exceptions of libraries, mostly for want of memory, into an error: it ends this piece of
// work, not the process.
template <typename Do>
auto Caught(Do&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::exception& error) {
    return Internal(error.what());
  }
}

}  // namespace

Compactor::Compactor(Database& database, const Clock& clock, CompactorOptions options)
    : database_(database), clock_(clock), options_(Named(std::move(options))) {
  worker_ = Worker("compact", [this](const std::stop_token& stop) { Work(stop); });
}

CompactorFigures Compactor::figures() const {
  return figures_.Read([](const CompactorFigures& figures) { return figures; });
}

void Compactor::Work(const std::stop_token& stop) {
  while (SleepFor(stop, options_.check_every)) {
    const Status turned = Caught([&]() -> Status {
      Turn(stop);
      return {};
    });
    if (!turned) Fail("compactor", turned.error());
  }
}

void Compactor::Turn(const std::stop_token& stop) {
  CountBacklog();
  while (MayGoOn(stop) && WorkOnce(stop)) {
    CountBacklog();
  }
}

bool Compactor::MayGoOn(const std::stop_token& stop) const {
  return !stop.stop_requested() && !(options_.paused && options_.paused());
}

// Compacts one job; returns whether there may be another.
bool Compactor::WorkOnce(const std::stop_token& stop) {
  auto connection = database_.Acquire();
  if (!connection) return false;
  const auto tasks = ClaimCompactTask(**connection, options_.name, options_.lease);
  if (!tasks) Fail("compactor: no job taken", tasks.error());
  if (!tasks || tasks->empty()) return false;
  const CompactTask task = tasks->front();
  const Status done = Caught([&] { return CompactJob(stop, **connection, task); });
  if (done) return true;
  Fail(Format("job {}: not compacted", task.job_id), done.error());
  // Where this fails, the lease runs out.
  (void)PutBackCompactTask(**connection, task, Around(options_.every));
  return !(*connection)->broken();
}

// Creates tasks for waiting jobs, also while none of them may be worked on.
void Compactor::CountBacklog() {
  if (clock_.Steady() < count_at_) return;
  auto connection = database_.Acquire();
  if (!connection) return;
  count_at_ = clock_.Steady() + options_.find;
  const Result<CompactBacklog> backlog = FindCompactTasks(**connection);
  if (!backlog) return Fail("compactor: what waits is not known", backlog.error());
  figures_.Change([&](CompactorFigures& figures) { figures.backlog = *backlog; });
}

Status Compactor::CompactJob(const std::stop_token& stop, Connection& connection,
                             const CompactTask& task) {
  const auto nodes = NodesToCompact(connection, task.job_id);
  if (!nodes) return nodes.error();
  if (Status done = CompactNodes(stop, connection, task, *nodes); !done) return done;
  const Result<bool> steps = CompactRanks(stop, connection, task, FrameKind::kSteps, &CompactSteps);
  if (!steps) return steps.error();
  const Result<bool> annotations =
      CompactRanks(stop, connection, task, FrameKind::kAnnotations, &CompactAnnotations);
  if (!annotations) return annotations.error();
  // Folds once, after all nodes of the job.
  const Status folded =
      Drain(stop, connection, task, "fold", [&] { return FoldSome(connection, task.job_id); });
  if (!folded) return folded;
  if (stop.stop_requested()) return PutBackCompactTask(connection, task, Duration::zero());
  const Result<bool> stale = HasStale(connection, task.job_id);
  if (!stale) return stale.error();
  const bool idle = nodes->empty() && !*steps && !*annotations && !*stale;
  return idle ? EndCompactTask(connection, task)
              : PutBackCompactTask(connection, task, Around(options_.every));
}

Status Compactor::CompactNodes(const std::stop_token& stop, Connection& connection,
                               const CompactTask& task, const std::vector<std::int64_t>& nodes) {
  if (nodes.empty()) return {};
  auto schemas = database_.Acquire();
  if (!schemas) return schemas.error();
  for (const std::int64_t node_id : nodes) {
    const auto compact = [&] { return CompactNode(connection, task.job_id, node_id, &**schemas); };
    const Status done = Drain(stop, connection, task, Format("node {}", node_id), compact);
    if (!done) return done;
    if ((*schemas)->broken()) return Unavailable("the connection for schemas is lost");
  }
  return {};
}

Result<bool> Compactor::CompactRanks(const std::stop_token& stop, Connection& connection,
                                     const CompactTask& task, FrameKind kind, CompactRank compact) {
  const auto ranks = RanksToCompact(connection, task.job_id, kind);
  if (!ranks) return ranks.error();
  for (const RankOfNode& rank : *ranks) {
    const std::string what = Format("{} of rank {}", ToText(kind), rank.rank);
    const Status done =
        Drain(stop, connection, task, what, [&] { return compact(connection, task.job_id, rank); });
    if (!done) return done.error();
  }
  return !ranks->empty();
}

// Compacts until nothing is left. Frames that cannot be compacted are logged and left: the others
// are compacted.
Status Compactor::Drain(const std::stop_token& stop, Connection& connection,
                        const CompactTask& task, const std::string& what,
                        const std::function<Result<Compacted>()>& compact) {
  for (bool more = true; more && MayGoOn(stop);) {
    const Result<bool> ours = RenewCompactTask(connection, task, options_.lease);
    if (!ours) return ours.error();
    if (!*ours) return Conflict("the lease went to another compactor");
    const SteadyTime begun = clock_.Steady();
    const Result<Compacted> done = Caught(compact);
    if (!done) {
      if (connection.broken()) return done.error();
      Fail(Format("job {}, {}: not compacted", task.job_id, what), done.error());
      return {};
    }
    Count(*done, clock_.Steady() - begun);
    more = done->more;
    if (done->rows_left_out > 0) {
      LogWarning("job {}, {}: {} rows found no room in full blocks", task.job_id, what,
                 done->rows_left_out);
    }
  }
  return {};
}

void Compactor::Fail(const std::string& what, const Error& error) {
  LogWarning("{}: {}", what, error.message);
  figures_.Change([](CompactorFigures& figures) { ++figures.failures; });
}

void Compactor::Count(const Compacted& done, Duration took) {
  figures_.Change([&](CompactorFigures& figures) {
    figures.frames += done.frames;
    figures.blocks += done.blocks;
    figures.rows_left_out += done.rows_left_out;
    figures.rows_joined += done.rows_joined;
    figures.busy_ns += static_cast<std::uint64_t>(took.count());
  });
}

}  // namespace stepscope
