#pragma once

#include <optional>
#include <string>
#include <vector>

#include "server/ingest/job_machines.h"
#include "server/ingest/job_pauses.h"
#include "server/ingest/store_parts.h"

namespace stepscope {

// How pushes come to the machines of Citus: each job's to its machine, past the coordinator where
// that is possible, and none to a machine that does not answer. Safe from any thread.
class ClusterWrites {
 public:
  // All outlive this.
  ClusterWrites(Database& database, const IngestOptions& options, const Clock& clock,
                BoundNodes& bound)
      : database_(database), options_(options), clock_(clock), bound_(bound) {}

  const JobMachines& machines() const { return machines_; }

  // Stores the parts, which are of the job, on its machine. Nothing when the coordinator is to do
  // it: where the machine takes no connections from here, too. Errors name no machine.
  std::optional<Status> Store(const std::string& job, const std::vector<GroupPart>& parts);

  // What became of a transaction of the job, which began then.
  void Note(const std::string& job, const Status& stored, SteadyTime begun);
  // Whether the job's machine did not answer lately.
  bool IsPaused(const std::string& job) const;
  bool Hangs(const std::string& job) const;
  // The numbers of the machines that did not answer when they were asked last.
  std::vector<std::string> HangingMachines() const { return hanging_.Noted(); }

 private:
  // What a machine said to a group, and whether it said anything.
  struct Said {
    Result<bool> stored;
    bool answered = false;
  };
  void FindMachine(const std::string& job);
  Said StoreOn(const CitusMachine& machine, const std::vector<GroupPart>& parts);

  Database& database_;
  const IngestOptions& options_;
  const Clock& clock_;
  BoundNodes& bound_;
  JobMachines machines_;
  JobPauses jobs_;               // whose machine does not answer
  JobPauses hanging_;            // machines, by their number
  JobPauses unreachable_{1min};  // machines that take no connections from here
};

}  // namespace stepscope
