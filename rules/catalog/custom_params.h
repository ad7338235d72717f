#pragma once

#include <span>

#include "rules/engine/params.h"

namespace stepscope {

// The parameters of the rule Custom.
std::span<const Param> CustomParams();

// Checks parameters against each other that are each good by themselves.
Status CheckCustomParams(const Json& complete);

}  // namespace stepscope
