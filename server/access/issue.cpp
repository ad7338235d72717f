#include "server/access/issue.h"

#include "core/base/text.h"
#include "core/model/names.h"
#include "server/access/scope.h"
#include "server/access/token.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTokenDayUs = 86'400'000'000;

}  // namespace

Status CheckOrder(const TokenOrder& order) {
  if (const Status good = CheckLabel("name", order.name); !good) return good;
  if (order.role == Role::kNone) return Invalid("role: agent, reader, operator or admin is wanted");
  if (order.scopes.size() > kMostScopes) {
    return Invalid(Format("scopes: at most {} are taken", kMostScopes));
  }
  if (order.role == Role::kAdmin && !order.scopes.empty()) {
    return Invalid("scopes: an admin sees all jobs; leave them out");
  }
  for (const std::string& scope : order.scopes) {
    if (const Status good = CheckScope(scope); !good) {
      return Invalid("scopes: " + good.error().message);
    }
  }
  if (order.expires_days >= 1 && order.expires_days <= kMostTokenDays) return {};
  return Invalid(Format("expires: 1 to {} days are wanted", kMostTokenDays));
}

Result<IssuedToken> IssueToken(Connection& connection, const TokenOrder& order,
                               const std::string& created_by, std::int64_t now_us) {
  if (const Status good = CheckOrder(order); !good) return good.error();
  Result<NewToken> made = MakeToken(order.role);
  if (!made) return made.error();
  IssuedToken issued{{.token_id = made->id,
                      .name = order.name,
                      .role = std::string(ToText(order.role)),
                      .scopes = order.scopes,
                      .secret_hash = made->secret_hash,
                      .created_by = created_by,
                      .created_us = now_us,
                      .expires_us = now_us + order.expires_days * kTokenDayUs,
                      .last_used_us = {},
                      .revoked_us = {}},
                     std::move(made->text)};
  if (const Status stored = InsertToken(connection, issued.row); !stored) return stored.error();
  return issued;
}

}  // namespace stepscope
