#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/front/problem.h"
#include "server/front/route.h"

namespace stepscope {

// Checks of a request before its body is read. Each gives the reason to refuse it.

inline constexpr std::size_t kMostTarget = 2048;

// Host names (without port, lower case) this service answers to; addresses always pass.
using HostNames = std::vector<std::string>;

// Checks the target, and that a method without a body has none. `target_bytes` counts path and
// query.
std::optional<Problem> CheckFraming(const Request& head, std::size_t target_bytes);

// Keeps out pages that point their own name at this address.
std::optional<Problem> CheckHost(const Request& head, const HostNames& hosts);

// Pages of another origin change nothing here; programs, which name no origin, may. Where the
// browser itself says who asks (`ambient`: a cookie, a proxy's login), a change has to come from a
// page of ours and to be JSON or, where the route takes such bodies, plain bytes: neither can a
// foreign form send, and a foreign script only after it has asked.
std::optional<Problem> CheckOrigin(const Request& head, bool ambient, const Route& route);

// Checks size and type of the body against those that the route takes.
std::optional<Problem> CheckBody(const Request& head, const Route& route);

// Content-Length; 0 when there is none or it is not a number.
std::size_t BodyBytes(const Request& head);

}  // namespace stepscope
