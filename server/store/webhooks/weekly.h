#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The message of each week about the fleet. Only webhooks that name the event get it.
inline constexpr std::string_view kWeeklyEvent = "fleet.weekly";

// Whether a webhook was not told yet of the week that ended at `week_end_us`. A webhook that was
// made after the week is not told of it.
Result<bool> WantsWeek(Connection&, std::int64_t week_end_us);

// Puts the message in the outbox for those webhooks, once each whichever service asks, and returns
// their number. Its own transaction.
Result<int> EnqueueWeek(Connection&, std::int64_t week_end_us, const Json& body,
                        std::int64_t now_us);

}  // namespace stepscope
