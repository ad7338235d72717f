#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// What the service may ask of an agent: it is authority over this machine, so the agent does only
// what it was started with.
struct Allowed {
  bool interval = true;
  bool spans = true;    // it costs the training nothing, and says no more than statistics name
  bool window = false;  // it slows the training down while it is recorded
  bool stop = false;    // it ends the training

  bool operator==(const Allowed&) const = default;
};

// "interval", "spans", "window", "stop", several with commas between them, or "none". Invalid names
// what it is not.
Result<Allowed> ParseAllowed(std::string_view text);

// The words that ParseAllowed would read, for the service.
std::vector<std::string> AllowedWords(const Allowed& allowed);

// Whether commands of this kind are allowed; false for a kind that nobody can allow.
bool Allows(const Allowed& allowed, std::string_view kind);

}  // namespace stepscope
