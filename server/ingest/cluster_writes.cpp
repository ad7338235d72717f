#include "server/ingest/cluster_writes.h"

#include "core/base/log.h"
#include "server/ingest/push_queue.h"
#include "server/store/postgres/citus_workers.h"
#include "server/store/postgres/sqlstate.h"

namespace stepscope {
namespace {

constexpr Duration kAtMost = 5s;  // for a call; a machine that answers takes milliseconds

std::string NameOf(std::int64_t machine) {
  return std::to_string(machine);
}

}  // namespace

// A job that is not there yet is asked for with its next push. A cluster that cannot say it is left
// alone for a while.
void ClusterWrites::FindMachine(const std::string& job) {
  const SteadyTime now = clock_.Steady();
  if (machines_.IsFresh(job, now)) return;
  Result<Database::Lease> connection = database_.Acquire();
  if (!connection || !(*connection)->distributed()) return;
  const auto found = FindMachineOf(**connection, job);
  if (!found || *found) machines_.Put(job, found ? *found : std::nullopt, now);
}

ClusterWrites::Said ClusterWrites::StoreOn(const CitusMachine& machine,
                                           const std::vector<GroupPart>& parts) {
  const Error silent = Unavailable("database: a machine of the cluster does not answer");
  const Result<Database*> there = database_.At(machine.host, machine.port);
  if (!there) return {silent, false};
  Result<Database::Lease> connection = (*there)->Acquire(kAtMost, kAtMost);
  if (!connection) return {silent, false};
  Result<bool> stored = StorePartsThere({**connection, options_, clock_, bound_}, parts);
  if ((*connection)->broken()) return {silent, false};
  return {std::move(stored), true};
}

// Rows that another transaction holds are held on the coordinator's way, too. What was refused the
// coordinator is asked for once more: it finds the culprit, and sees what was stored after all.
// Whoever took long hangs, and the coordinator would wait for it as well.
std::optional<Status> ClusterWrites::Store(const std::string& job,
                                           const std::vector<GroupPart>& parts) {
  FindMachine(job);
  const auto machine = machines_.Find(job);
  const SteadyTime begun = clock_.Steady();
  if (!machine || unreachable_.IsPaused(NameOf(machine->number), begun)) return std::nullopt;
  const Said said = StoreOn(*machine, parts);
  const SteadyTime now = clock_.Steady();
  if (said.answered) machines_.NoteAnswer(machine->number, now);
  if (said.stored) {
    unreachable_.Note(NameOf(machine->number), {}, now);
    return *said.stored ? std::optional(Status()) : std::nullopt;
  }
  const Error& error = said.stored.error();
  if (said.answered && IsLockTimeout(error)) return Status(error);
  if (!said.answered || error.code == Code::kInternal) {
    LogWarning("ingest: machine {} of the cluster took no pushes; the coordinator is asked",
               machine->number);
    unreachable_.Note(NameOf(machine->number), Unavailable(""), now);
  }
  return now - begun > PushQueue::kHangsAfter ? std::optional(Status(error)) : std::nullopt;
}

// A machine that has not answered for long hangs: its other jobs need not try. One that answered
// does not, though the transaction failed: what it waited for is elsewhere, as rows of `jobs`,
// which are on all machines.
void ClusterWrites::Note(const std::string& job, const Status& stored, SteadyTime begun) {
  const SteadyTime now = clock_.Steady();
  jobs_.Note(job, stored, now);
  const auto machine = machines_.Of(job);
  if (!machine) return;
  const bool answered = stored || machines_.HasAnsweredSince(job, begun);
  if (answered || now - begun > PushQueue::kHangsAfter) {
    hanging_.Note(NameOf(*machine), answered ? Status() : stored, now);
  }
}

bool ClusterWrites::IsPaused(const std::string& job) const {
  return jobs_.IsPaused(job, clock_.Steady()) || Hangs(job);
}

bool ClusterWrites::Hangs(const std::string& job) const {
  const auto machine = machines_.Of(job);
  return machine && hanging_.IsPaused(NameOf(*machine), clock_.Steady());
}

}  // namespace stepscope
