#pragma once

#include <cstdint>
#include <vector>

#include "agent/host/process.h"
#include "agent/marks/intake.h"

namespace stepscope {

// The processes of one run. `intake`, which may be null, outlives the returned functions.

// The ranks that are connected.
std::vector<TrainingProcess> RanksOf(const Intake* intake);

// Lists the ranks; the command as long as there are none. 0: there is no command.
ListTraining ListTrainingOf(const Intake* intake, std::int64_t command);

// The process ids, where they are known on this node.
std::vector<std::int64_t> PidsOf(const std::vector<TrainingProcess>& training);

}  // namespace stepscope
