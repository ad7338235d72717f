#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

struct TokenRow {
  std::string token_id, name, role;
  std::vector<std::string> scopes;  // empty = all jobs
  std::vector<std::string> nodes;   // empty = all that are nobody else's
  std::string secret_hash, created_by;
  std::int64_t created_us = 0, expires_us = 0;
  std::optional<std::int64_t> last_used_us, revoked_us;
};

Status InsertToken(Connection&, const TokenRow&);

// nullopt when there is no such token; revoked and expired ones are found.
Result<std::optional<TokenRow>> FindToken(Connection&, const std::string& token_id);

// Notes a use, at most once a minute.
Status TouchToken(Connection&, const std::string& token_id, std::int64_t now_us);

// May be repeated without harm. NotFound names the token.
Status RevokeToken(Connection&, const std::string& token_id, std::int64_t now_us);

// Whether a token that is good at this time was made for the node by its name.
Result<bool> IsNodeReserved(Connection&, const std::string& node, std::int64_t now_us);

struct TokenPage {
  std::vector<TokenRow> items;
  std::string next;  // "" at the end
  std::int64_t total = 0;
};
// Newest first. Invalid for a cursor of another list.
Result<TokenPage> ListTokens(Connection&, const std::string& after, int limit);

// For statements that join tokens: the columns, and how a row of them is read.
extern const char* const kTokenColumns;
inline constexpr std::size_t kTokenColumnCount = 11;
TokenRow ReadToken(const Rows& rows, std::size_t row);

}  // namespace stepscope
