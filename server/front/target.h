#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// Undoes percent-encoding. Refuses half escapes, NUL and control characters; '+' stays a plus.
Result<std::string> PercentDecode(std::string_view text);

// The parameters behind '?', in their order. A '+' is a blank, as forms write it. Refuses an empty
// name and the same name twice.
using QueryParameters = std::vector<std::pair<std::string, std::string>>;
Result<QueryParameters> ParseQuery(std::string_view query);

}  // namespace stepscope
