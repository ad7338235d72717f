#pragma once

#include <span>

#include "rules/engine/params.h"

namespace stepscope {

// The parameters of the rule Custom.
std::span<const Param> CustomParams();

// What they must hold together, each good by itself.
Status CheckCustomParams(const Json& complete);

}  // namespace stepscope
