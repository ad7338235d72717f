#include "agent/app/options/allowed.h"

#include <algorithm>
#include <iterator>

#include "core/base/text.h"
#include "core/wire/push_answer.h"

namespace stepscope {
namespace {

// The order is that of --help.
struct Permission {
  std::string_view word;
  bool Allowed::*allowed;
};
constexpr Permission kPermissions[] = {{kIntervalCommand, &Allowed::interval},
                                       {kSpansCommand, &Allowed::spans},
                                       {kWindowCommand, &Allowed::window},
                                       {kStopCommand, &Allowed::stop}};

const Permission* FindPermission(std::string_view word) {
  const auto found = std::ranges::find(kPermissions, word, &Permission::word);
  return found == std::end(kPermissions) ? nullptr : found;
}

}  // namespace

Result<Allowed> ParseAllowed(std::string_view text) {
  Allowed allowed{.interval = false, .spans = false};
  if (text == "none") return allowed;
  for (const std::string_view word : Split(text, ',')) {
    const Permission* permission = FindPermission(word);
    if (permission == nullptr) {
      return Invalid(
          Format("'{}' is not interval, spans, window and stop, nor none", Printable(text, 40)));
    }
    allowed.*permission->allowed = true;
  }
  return allowed;
}

std::vector<std::string> AllowedWords(const Allowed& allowed) {
  std::vector<std::string> words;
  for (const Permission& permission : kPermissions) {
    if (allowed.*permission.allowed) words.emplace_back(permission.word);
  }
  if (allowed.automatic) words.emplace_back("automatic");
  return words;
}

bool Allows(const Allowed& allowed, std::string_view kind) {
  const Permission* permission = FindPermission(kind);
  return permission != nullptr && allowed.*permission->allowed;
}

}  // namespace stepscope
