#pragma once

#include <functional>
#include <string>

#include "agent/send/uplink.h"

namespace stepscope {

// Pauses; false when nobody wants to wait any longer.
using PauseFor = std::function<bool(Duration)>;

// The card of a job that has ended, for a terminal: asked for until the service has judged the job
// to its end, for 15 s at most, then as it is. Lines of visible text, 64 of them at most. The error
// says in a sentence why there is none.
Result<std::string> AskEndCard(const UplinkOptions& options, const std::string& job,
                               const PauseFor& pause);

}  // namespace stepscope
