#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace stepscope {

// Permissions of the service: commands are authority over this machine, so the agent accepts only
// kinds that it was started with.
struct Allowed {
  bool interval = true;
  bool spans = true;       // costs the training nothing, and reveals no more than statistics do
  bool window = false;     // slows the training down while it is recorded
  bool stop = false;       // ends the training
  bool automatic = false;  // the service may ask for windows of operators that nobody asked for

  bool operator==(const Allowed&) const = default;
};

// Parses "interval", "spans", "window", "stop", several with commas between them, or "none".
// Invalid names the unknown word.
Result<Allowed> ParseAllowed(std::string_view text);

// The permissions as words, for the service: those that ParseAllowed reads, and "automatic".
std::vector<std::string> AllowedWords(const Allowed& allowed);

// Whether commands of this kind are allowed; false for a kind that nobody can allow.
bool Allows(const Allowed& allowed, std::string_view kind);

}  // namespace stepscope
