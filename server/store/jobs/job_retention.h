#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// How long the samples of one job are kept: "keep_samples_days" of its configuration, where it has
// one, in place of what the service was started with; 0 keeps for ever.

inline constexpr std::int64_t kMostKeptDays = 20'000;

// Nothing: as the service does again. In the caller's transaction.
Status KeepSamples(Connection& connection, std::int64_t job_id, std::optional<std::int64_t> days);

// Jobs that have samples from before their time, which were not asked for them lately.
// `service_keeps_us` is for those that have no time of their own; 0: for ever.
struct OldSamples {
  std::int64_t job_id = 0, before_us = 0;
};
Result<std::vector<OldSamples>> ListOldSamples(Connection& connection, std::int64_t now_us,
                                               std::int64_t service_keeps_us);
// Whether they still are: a turn takes hours, and somebody may give them more time meanwhile.
Result<bool> AreStillOld(Connection& connection, const OldSamples& old, std::int64_t now_us,
                         std::int64_t service_keeps_us);

}  // namespace stepscope
