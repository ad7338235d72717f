#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"

namespace stepscope {

// Unsigned numbers as text for a rule's state: small ones cost one byte (varints in base64).
std::string PackNumbers(const std::vector<std::uint64_t>& numbers);

// Invalid when it is not what PackNumbers gave or holds more than `most` numbers.
Result<std::vector<std::uint64_t>> UnpackNumbers(const Json& packed, std::size_t most);

}  // namespace stepscope
