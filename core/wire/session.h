#pragma once

#include <string_view>

#include "core/wire/frame.h"

namespace stepscope {

// The session of the same frames in another job: always the same, so that a repeat is known as one.
Session SessionInJob(const Session& session, std::string_view job);

}  // namespace stepscope
