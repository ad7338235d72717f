#pragma once

#include <string>
#include <string_view>

#include "core/base/guarded.h"
#include "core/base/result.h"
#include "core/base/time.h"
#include "core/wire/push_answer.h"

namespace stepscope {

// What the service may ask of an agent: it is authority over this machine, so the agent does only
// what it was started with.
struct Allowed {
  bool interval = true;
};

// "interval" or "none". Invalid names what it is not.
Result<Allowed> ParseAllowed(std::string_view text);

// Does what the service asks for. Why not, or nothing when it is done.
std::string Obey(const ServiceCommand& command, const Allowed& allowed,
                 Guarded<Duration>& interval);

}  // namespace stepscope
