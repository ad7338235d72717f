#pragma once

#include <optional>

#include "core/base/may_wait.h"
#include "server/access/access.h"
#include "server/front/route_table.h"

namespace stepscope {

// Whether the sender of a head may make the call. Their credentials, the role behind these and the
// job in the path decide it.
struct Admission {
  enum Kind { kPass, kRefuse, kAsk };
  Kind kind = kPass;
  Reply refusal = {};  // for kRefuse
};

// Sets the caller of the head. Where it may not wait only memory is asked, and kAsk says that this
// is not enough.
Admission Admit(Access& access, Request& head, const Match& match, MayWait may_wait);

// Why the caller of the head, who is known, may not make the call; nothing: they may.
std::optional<Reply> CheckRight(const Request& head, const Match& match);

// The path parameter with the name of the job that a call is about.
inline constexpr std::string_view kJobParameter = "name";

}  // namespace stepscope
