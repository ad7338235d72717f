#pragma once

#include <string>

#include "core/base/clock.h"
#include "server/report/fleet/fleet_table.h"

namespace stepscope {

// The end of the last week, Monday to Monday in UTC, that ended an hour ago or earlier: rules of
// its last jobs have had their turns by then.
std::int64_t WeekEndUs(std::int64_t now_us);

// Tells webhooks that want the event fleet.weekly of the last week, each once. Returns how many
// were told.
Result<int> TellWeek(Connection& connection, FleetTable& fleet, std::int64_t now_us,
                     const std::string& public_url);

}  // namespace stepscope
