#include "agent/app/job/rank_processes.h"

#include <optional>
#include <utility>

#include "core/base/text.h"

namespace stepscope {

std::vector<TrainingProcess> RanksOf(const Intake* intake) {
  std::vector<TrainingProcess> ranks;
  for (const HeardJob& job : intake ? intake->Jobs() : std::vector<HeardJob>()) {
    for (const HeardProcess& process : job.processes) {
      ranks.push_back({Format("rank{}", process.rank), process.pid});
    }
  }
  return ranks;
}

// Lists the processes again only when one came or went.
ListTraining ListTrainingOf(const Intake* intake, std::int64_t command) {
  return [=, seen = std::optional<std::uint64_t>(),
          known = std::vector<TrainingProcess>()](auto& training) mutable {
    const std::uint64_t changes = intake ? intake->Changes() : 0;
    if (std::exchange(seen, changes) != changes) {
      known = RanksOf(intake);
      if (known.empty() && command != 0) known.push_back({"command", command});
    }
    training = known;
  };
}

std::vector<std::int64_t> PidsOf(const std::vector<TrainingProcess>& training) {
  std::vector<std::int64_t> pids;
  for (const TrainingProcess& process : training) {
    if (process.pid != 0) pids.push_back(process.pid);
  }
  return pids;
}

}  // namespace stepscope
