#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/report/fleet/fleet.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// GPUs that running jobs hold and have not used yet, as the rule IdleGPU saw them at its last turn.
// A GPU that was used and then stands still is not among them.
struct IdleDevice {
  std::string node, device;
  double idle_seconds = 0;  // when the rule looked last
};
struct IdleJob {
  std::string name, group, user;
  std::int64_t gpus = 0;  // that the job holds
  std::vector<IdleDevice> idle;
  std::int64_t judged_us = 0;  // the rule's last turn
};
struct IdleNow {
  std::int64_t running_jobs = 0;  // with GPUs
  std::int64_t judged_jobs = 0;   // of these, with a verdict of the rule
  std::int64_t not_asked = 0;     // running jobs over the bound
  std::vector<IdleJob> jobs;      // those with most idle GPUs first

  std::int64_t Gpus() const;
};

// Running jobs that the question counts; those that hold most GPUs first, and the others counted.
inline constexpr std::size_t kMostIdleJobs = 500;
struct RunningJobs {
  std::vector<FleetJob> jobs;
  std::vector<std::string> groups, users;  // of `jobs`
  std::int64_t left_out = 0;
};
RunningJobs ListRunningJobs(const FleetJobs& jobs, const FleetQuestion& question,
                            std::size_t most = kMostIdleJobs);

// Reads what the rule said of them.
Result<IdleNow> ReadIdleNow(Connection& connection, const RunningJobs& running,
                            const FleetQuestion& question);

OrderedJson ToJson(const IdleNow& idle);

}  // namespace stepscope
