#include "server/ingest/cluster_writes.h"

#include "core/base/log.h"
#include "server/ingest/push_queue.h"
#include "server/store/postgres/citus_workers.h"

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

Result<bool> ClusterWrites::StoreOn(const CitusMachine& machine,
                                    const std::vector<GroupPart>& parts) {
  const Result<Database*> there = database_.At(machine.host, machine.port);
  if (!there) return there.error();
  Result<Database::Lease> connection = (*there)->Acquire(kAtMost, kAtMost);
  if (!connection) return connection.error();
  return StorePartsThere({**connection, options_, clock_, bound_}, parts);
}

// What was refused the coordinator is asked for once more: it finds the culprit, and sees what was
// stored after all. Whoever took long hangs, and the coordinator would wait for it as well.
std::optional<Status> ClusterWrites::Store(const std::string& job,
                                           const std::vector<GroupPart>& parts) {
  FindMachine(job);
  const auto machine = machines_.Find(job);
  const SteadyTime begun = clock_.Steady();
  if (!machine || unreachable_.IsPaused(NameOf(machine->number), begun)) return std::nullopt;
  const Result<bool> stored = StoreOn(*machine, parts);
  if (stored) {
    unreachable_.Note(NameOf(machine->number), {}, clock_.Steady());
    return *stored ? std::optional(Status()) : std::nullopt;
  }
  if (clock_.Steady() - begun > PushQueue::kHangsAfter) return Status(stored.error());
  const Code code = stored.error().code;
  if (code != Code::kInvalid && code != Code::kConflict) {
    LogWarning("ingest: machine {} of the cluster took no pushes; the coordinator is asked",
               machine->number);
    unreachable_.Note(NameOf(machine->number), Unavailable(""), clock_.Steady());
  }
  return std::nullopt;
}

// A machine that took long and did not answer hangs: its other jobs need not try.
void ClusterWrites::Note(const std::string& job, const Status& stored, SteadyTime begun) {
  const SteadyTime now = clock_.Steady();
  jobs_.Note(job, stored, now);
  const auto machine = machines_.Of(job);
  if (machine && (stored || now - begun > PushQueue::kHangsAfter)) {
    hanging_.Note(NameOf(*machine), stored, now);
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
