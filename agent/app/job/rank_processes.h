#pragma once

#include <cstdint>
#include <vector>

#include "agent/host/process.h"
#include "agent/marks/intake.h"

namespace stepscope {

// The processes of one run. `intake`, which may be null, outlives what is made with it.

// The ranks that are heard.
std::vector<TrainingProcess> RanksOf(const Intake* intake);

// The ranks; the command as long as there are none. 0: there is no command.
ListTraining ListTrainingOf(const Intake* intake, std::int64_t command);

// Of those whose numbers are known here.
std::vector<std::int64_t> PidsOf(const std::vector<TrainingProcess>& training);

}  // namespace stepscope
