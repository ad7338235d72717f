#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "rules/diagnosis/causes.h"
#include "server/store/fleet/job_hours.h"

namespace stepscope {

// A node of a job with its part of the job's GPUs, 0 to 1.
struct FleetNode {
  std::uint32_t name = 0;  // place in FleetJobs::texts
  float part = 0;
};

// A job of the fleet; texts are places in FleetJobs::texts.
struct FleetJob {
  std::int64_t job_id = 0;
  std::string name;
  std::uint32_t group = 0, user = 0, account = 0, gpu = 0;
  std::int32_t gpus = 0, issues = 0;
  std::int64_t from_us = 0, to_us = 0;  // equal: it never began
  bool ended = false, judged = false, has_verdict = false;
  float price = 0;                    // money for an hour of a GPU; 0: not set
  double busy_seconds = 0;            // of GPUs
  std::vector<FleetNode> nodes;       // that have GPUs, or all where none has
  std::array<float, kCauses> lost{};  // seconds of GPUs; that of Cause::kBusy is 0
};

struct FleetJobs {
  std::vector<FleetJob> jobs;
  std::vector<std::string> texts{""};
  std::unordered_map<std::string, std::uint32_t> places{{"", 0}};  // of texts
  std::unordered_map<std::int64_t, std::size_t> by_id;             // places in jobs
  std::int64_t newest_us = 0;  // when the newest row was written
  std::int64_t left_out = 0;   // older jobs, over the bound

  void Put(const JobHours& hours);
};

// The rows of all jobs in memory, since the sums over 100,000 of them must come at once. Each
// reader first reads what was written since: the newest rows, or all of them when jobs were
// deleted. At most kMostFleetJobs, of about 250 bytes each. Safe from any thread.
inline constexpr std::int64_t kMostFleetJobs = 400'000;
class FleetTable {
 public:
  explicit FleetTable(const Clock& clock, std::int64_t most = kMostFleetJobs)
      : clock_(clock), most_(most) {}

  // Reads what changed, at most once in two seconds.
  Status Refresh(Connection& connection);
  // Calls read(const FleetJobs&) under the lock: milliseconds.
  template <typename F>
  auto Read(F&& read) const {
    return jobs_.Read(std::forward<F>(read));
  }

 private:
  struct State {
    SteadyTime fresh_until{};
    bool loaded = false;
    bool behind = false;  // a stored row was missing after the last turn
  };
  Result<std::int64_t> ReadNewest(Connection& connection);
  Status ReadAll(Connection& connection);

  const Clock& clock_;
  const std::int64_t most_;
  Guarded<FleetJobs> jobs_;
  Guarded<State> state_;
};

}  // namespace stepscope
