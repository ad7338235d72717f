#pragma once

#include <optional>
#include <string_view>

#include "server/edge/http/head.h"

namespace stepscope {

// Whether a header may stand in a head only once: two of them would leave open which one counts.
bool StandsOnce(std::string_view name);

// Decides what the headers of a complete head mean (host, length, coding, Expect, Connection), and
// takes out those that nobody behind the edge may act on. The reason when they contradict.
std::optional<Refusal> NormalizeHead(Head& head);

}  // namespace stepscope
