#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/descriptor.h"
#include "core/base/result.h"
#include "core/base/wait.h"

namespace stepscope {

// Opens a TCP connection to the first of these numeric addresses that accepts. Each has a fair
// share of the time that is left, so that one that never answers does not use it all.
Result<Descriptor> Connect(const std::vector<std::string>& addresses, std::uint16_t port,
                           const WaitLimit& limit);

}  // namespace stepscope
