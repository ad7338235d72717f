#pragma once

#include <string_view>

#include "core/base/result.h"

namespace stepscope {

// Checks a job's name: 1 to 63 characters, letters, digits and single or repeated '-' inside,
// starting and ending with a letter or digit. The error says which rule is broken.
Status CheckJobName(std::string_view name);

// Checks the name of a node, device or group: 1 to 63 bytes of valid UTF-8 without control
// characters.
Status CheckLabel(std::string_view what, std::string_view label);

}  // namespace stepscope
