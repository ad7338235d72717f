#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "server/access/right.h"

namespace stepscope {

// The text of a token: st_<role>_<id 8>_<secret 32><check 6>, in letters and digits. The check is a
// CRC-32 over all before it: it finds typing errors without asking the database, and tells scanners
// of leaked secrets that this is one. The role in the text is for people; the table decides.

inline constexpr std::size_t kTokenIdLetters = 8, kSecretLetters = 32, kCheckLetters = 6;

// The parts of a token. They refer to a text that stays the caller's.
struct TokenParts {
  Role role = Role::kNone;
  std::string_view id, secret;
};

// Takes any bytes. Nothing unless every letter is as it was made.
std::optional<TokenParts> ParseToken(std::string_view text) noexcept;

struct NewToken {
  std::string id;
  std::string text;         // to be shown once, never to be kept or logged
  std::string secret_hash;  // the only thing that is kept of the secret
};

// Internal when there is no randomness.
Result<NewToken> MakeToken(Role role);

}  // namespace stepscope
