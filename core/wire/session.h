#pragma once

#include <string_view>

#include "core/wire/frame.h"

namespace stepscope {

// The id of a session whose frames are sent again as another job: always the same for the same job,
// so that sending them twice does not store them twice.
Session SessionInJob(const Session& session, std::string_view job);

}  // namespace stepscope
