#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// Unsigned numbers as bytes of a rule's state: small ones cost one (varints).
std::string PackNumbers(const std::vector<std::uint64_t>& numbers);

// Invalid when the bytes are not from PackNumbers or hold more than `most` numbers.
Result<std::vector<std::uint64_t>> UnpackNumbers(std::string_view packed, std::size_t most);

}  // namespace stepscope
