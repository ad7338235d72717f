#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "server/store/access/tokens.h"

namespace stepscope {

// A browser that signed in with a token. Only a hash of its cookie is kept.
struct SessionRow {
  std::string session_hash, token_id;
  std::int64_t created_us = 0, last_used_us = 0, expires_us = 0;
};

// Also removes sessions that ended: past their time, or not used since `unused_since_us`.
Status InsertSession(Connection&, const SessionRow&, std::int64_t unused_since_us);

struct SignedIn {
  SessionRow session;
  TokenRow token;  // the token's current ones
};
Result<std::optional<SignedIn>> FindSession(Connection&, const std::string& session_hash);

// Notes a use, at most once a minute.
Status TouchSession(Connection&, const std::string& session_hash, std::int64_t now_us);

// May be repeated without harm.
Status DeleteSession(Connection&, const std::string& session_hash);

}  // namespace stepscope
