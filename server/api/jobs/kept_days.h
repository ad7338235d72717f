#pragma once

#include <cstdint>
#include <optional>

#include "core/base/json.h"

namespace stepscope {

class Body;

inline constexpr char kKeptDays[] = "keep_samples_days";

// The days in a body's configuration; nullopt where they are null or left out.
std::optional<std::int64_t> ReadKeptDays(Body& body, const Json& configuration);

}  // namespace stepscope
