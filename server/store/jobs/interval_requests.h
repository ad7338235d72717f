#pragma once

#include <cstdint>

#include "core/base/json.h"
#include "server/store/postgres/database.h"

namespace stepscope {

// The time between two samples of a job, and its changes while the job runs. A configuration holds
// the interval that is wanted now ("interval_ms") and, once it was changed, all of them
// ("intervals": [{"from_us", "interval_ms"}], the first from 0).

inline constexpr std::int64_t kDefaultIntervalMs = 500;
inline constexpr std::int64_t kLeastIntervalMs = 100, kMostIntervalMs = 60'000;
// A job that is changed more often than this is not changed by people.
inline constexpr std::int64_t kMostIntervalChanges = 100;

// A job that was made without an interval takes that of its first agent. Nothing happens when the
// job has one.
Status KeepFirstInterval(Connection& connection, std::int64_t job_id, std::int64_t interval_ms);

// The interval that is wanted now.
std::int64_t IntervalMs(const Json& configuration);

// The longest interval with which samples of this range may have been taken. Agents hear of a
// change with their next push.
std::int64_t LongestIntervalMs(const Json& configuration, std::int64_t from_us, std::int64_t to_us);

// The number of changes, which is also the number of the last change.
std::int64_t IntervalChanges(const Json& configuration);

// Changes a running job, in the caller's transaction; nothing happens when it has this interval.
// Conflict when the job has ended or was changed too often.
Status ChangeInterval(Connection& connection, std::int64_t job_id, std::int64_t interval_ms,
                      std::int64_t now_us);

// The agent of this stream has answered the change of this number, and those before it.
Status IntervalAnswered(Connection& connection, std::int64_t job_id, std::string_view session,
                        std::int64_t number);

}  // namespace stepscope
