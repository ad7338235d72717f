#pragma once

#include <cstdint>
#include <optional>

#include "core/base/json.h"

namespace stepscope {

class Body;

inline constexpr char kKeptDays[] = "keep_samples_days";

// What a configuration in a body says of it; nothing where it is null or left out.
std::optional<std::int64_t> ReadKeptDays(Body& body, const Json& configuration);

}  // namespace stepscope
