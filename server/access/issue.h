#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "server/access/right.h"
#include "server/store/access/tokens.h"

namespace stepscope {

inline constexpr int kMostTokenDays = 365;

// A token that somebody wants.
struct TokenOrder {
  std::string name;  // names the person or machine, 1 to 63 bytes
  Role role = Role::kNone;
  std::vector<std::string> scopes = {};  // empty = all jobs; an admin has none
  std::int64_t expires_days = kMostTokenDays;
  std::vector<std::string> nodes = {};  // empty = all that are nobody else's
};

// No name of a token is taken for that of another sender.
Status CheckTokenName(std::string_view name);

// Says what is wrong with it, if anything; the message begins with the field.
Status CheckOrder(const TokenOrder& order);

struct IssuedToken {
  TokenRow row;
  std::string text;  // shown once
};
// Makes and stores it, in the caller's transaction.
Result<IssuedToken> IssueToken(Connection& connection, const TokenOrder& order,
                               const std::string& created_by, std::int64_t now_us);

}  // namespace stepscope
