#include "server/store/access/tokens.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kInsertToken[] = R"(
insert into tokens (token_id, name, role, scopes, nodes, secret_hash, created_us, created_by, expires_us)
values ($1, $2, $3, $4, $5, $6, $7, $8, $9))";
constexpr char kFindReserved[] = R"(
select 1
from tokens
where revoked_us is null and expires_us > $2 and exists (
    select 1
    from unnest(nodes) as named (name)
    where name = $1 or right(name, 1) = '*' and starts_with($1, left(name, -1)))
limit 1)";
constexpr char kTouchToken[] = R"(
update tokens
set last_used_us = $2
where token_id = $1 and coalesce(last_used_us, 0) < $2 - 60000000)";
constexpr char kRevoke[] = R"(
update tokens
set revoked_us = coalesce(revoked_us, $2)
where token_id = $1)";

}  // namespace

const char* const kTokenColumns =
    "token_id, name, role, to_jsonb(scopes), to_jsonb(nodes), secret_hash, tokens.created_us, "
    "created_by, "
    "tokens.expires_us, tokens.last_used_us, revoked_us";

TokenRow ReadToken(const Rows& rows, std::size_t row) {
  TokenRow token;
  token.token_id = rows.Text(row, 0);
  token.name = rows.Text(row, 1);
  token.role = rows.Text(row, 2);
  token.scopes = ReadJson(rows, row, 3).get<std::vector<std::string>>();
  token.nodes = ReadJson(rows, row, 4).get<std::vector<std::string>>();
  token.secret_hash = rows.Bytes(row, 5);
  token.created_us = rows.Int(row, 6);
  token.created_by = rows.Text(row, 7);
  token.expires_us = rows.Int(row, 8);
  token.last_used_us = rows.MaybeInt(row, 9);
  token.revoked_us = rows.MaybeInt(row, 10);
  return token;
}

Status InsertToken(Connection& connection, const TokenRow& token) {
  return Done(connection.Query(
      kInsertToken, {token.token_id, token.name, token.role, Parameter::Array(token.scopes),
                     Parameter::Array(token.nodes), Parameter::Bytes(token.secret_hash),
                     token.created_us, token.created_by, token.expires_us}));
}

Result<std::optional<TokenRow>> FindToken(Connection& connection, const std::string& token_id) {
  const Result<Rows> rows = connection.Query(
      Format("select {} from tokens where token_id = $1", kTokenColumns), {token_id});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<TokenRow>();
  return std::optional(ReadToken(*rows, 0));
}

Status TouchToken(Connection& connection, const std::string& token_id, std::int64_t now_us) {
  return Done(connection.Query(kTouchToken, {token_id, now_us}));
}

Status RevokeToken(Connection& connection, const std::string& token_id, std::int64_t now_us) {
  const Result<Rows> revoked = connection.Query(kRevoke, {token_id, now_us});
  if (!revoked) return revoked.error();
  if (revoked->affected() > 0) return {};
  constexpr std::size_t kShown = 8;  // no more than an id has: people paste the whole token
  return NotFound(Format("token {} not found", Printable(token_id, kShown)));
}

Result<bool> IsNodeReserved(Connection& connection, const std::string& node, std::int64_t now_us) {
  const Result<Rows> rows = connection.Query(kFindReserved, {node, now_us});
  return rows ? Result<bool>(!rows->empty()) : rows.error();
}

Result<TokenPage> ListTokens(Connection& connection, const std::string& after, int limit) {
  const Result<Rows> total = connection.Query("select count(*) from tokens");
  if (!total) return total.error();
  Json position = Json::array({INT64_MAX, ""});
  if (!after.empty()) {
    Result<Json> decoded = DecodeCursor(after, position);
    if (!decoded) return decoded.error();
    position = std::move(*decoded);
  }
  const Result<Rows> rows = connection.Query(
      Format("select {} from tokens where (created_us, token_id) < ($1::bigint, $2::text) "
             "order by created_us desc, token_id desc limit {}",
             kTokenColumns, limit + 1),
      {position[0].get<std::int64_t>(), position[1].get<std::string>()});
  if (!rows) return rows.error();
  TokenPage page;
  page.total = total->Int(0, 0);
  const std::size_t most = static_cast<std::size_t>(limit);
  for (std::size_t i = 0; i < std::min(rows->size(), most); ++i) {
    page.items.push_back(ReadToken(*rows, i));
  }
  if (rows->size() > most) {
    const TokenRow& last = page.items.back();
    page.next = EncodeCursor(Json::array({last.created_us, last.token_id}));
  }
  return page;
}

}  // namespace stepscope
