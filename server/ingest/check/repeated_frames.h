#pragma once

#include <cstddef>
#include <vector>

#include "server/ingest/check/checked_push.h"

namespace stepscope {

// Which of the frames [from, to) of a push need not be applied, because others in it say the same
// of the same thing: of the frames that tell one event of one rank or command, the first decides
// what it sets off and the last what is kept of it. A push that starts and ends its session 128
// times costs as much as one that does it twice.
std::vector<bool> RepeatedFrames(const CheckedPush& push, std::size_t from, std::size_t to);

}  // namespace stepscope
