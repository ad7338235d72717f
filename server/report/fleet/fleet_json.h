#pragma once

#include "core/base/json.h"
#include "server/report/fleet/fleet.h"

namespace stepscope {

// The answer of GET /fleet: hours of GPUs, shares from 0 to 1, null where nothing is known.
OrderedJson ToJson(const Fleet& fleet, const FleetQuestion& question);

// The message of a week (event fleet.weekly): totals, causes, and who and which jobs lost most.
Json WeeklyMessage(const Fleet& fleet, const FleetQuestion& question, const std::string& url);

}  // namespace stepscope
