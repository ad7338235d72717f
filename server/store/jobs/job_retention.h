#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// The time for which a job's samples are kept: "keep_samples_days" of its configuration, where it
// has one, in place of the service's option; 0 keeps them for ever.

inline constexpr std::int64_t kMostKeptDays = 20'000;

// nullopt: as the service's option says again. In the caller's transaction.
Status KeepSamples(Connection& connection, std::int64_t job_id, std::optional<std::int64_t> days);

// Jobs that have samples older than they are kept, and whose samples were not just removed.
// `service_keeps_us` is for jobs without a time of their own; 0: for ever.
struct OldSamples {
  std::int64_t job_id = 0, before_us = 0;
};
Result<std::vector<OldSamples>> ListOldSamples(Connection& connection, std::int64_t now_us,
                                               std::int64_t service_keeps_us);
// Whether the samples are still too old: a removal takes hours, and somebody may extend the time
// meanwhile.
Result<bool> AreStillOld(Connection& connection, const OldSamples& old, std::int64_t now_us,
                         std::int64_t service_keeps_us);

}  // namespace stepscope
