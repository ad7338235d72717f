#pragma once

#include <optional>

#include "core/base/may_wait.h"
#include "server/access/access.h"
#include "server/front/route_table.h"

namespace stepscope {

// Whether the sender of a head may make the call: said by what they show, the role behind it, and
// the job in the path.
struct Admission {
  enum Kind { kPass, kRefuse, kAsk };
  Kind kind = kPass;
  Reply refusal = {};  // of kRefuse
};

// Sets the caller of the head. Where it may not wait only memory is asked, and kAsk says that this
// is not enough.
Admission Admit(Access& access, Request& head, const Match& match, MayWait may_wait);

// The path says which job it is about.
inline constexpr std::string_view kJobParameter = "name";

}  // namespace stepscope
