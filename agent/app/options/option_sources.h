#pragma once

#include <span>
#include <vector>

#include "core/base/options.h"
#include "core/base/result.h"

namespace stepscope {

// The options that the environment and the configuration file set, the strongest first. `table` has
// the options of all commands, since they share the file. Invalid names the variable, or the file
// and the line.
Result<std::vector<Setting>> ReadOptionSources(const Arguments& arguments,
                                               std::span<const Option> table);

}  // namespace stepscope
