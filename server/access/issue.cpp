#include "server/access/issue.h"

#include "core/base/text.h"
#include "core/model/names.h"
#include "server/access/scope.h"
#include "server/access/token.h"
#include "server/store/jobs/node_bindings.h"

namespace stepscope {
namespace {

constexpr std::int64_t kTokenDayUs = 86'400'000'000;

Status CheckNodes(const TokenOrder& order) {
  if (order.nodes.empty()) return {};
  if (order.role != Role::kAgent && order.role != Role::kOperator) {
    return Invalid("nodes: only a token of an agent or operator can be for some; leave them out");
  }
  if (order.nodes.size() > kMostScopes) {
    return Invalid(Format("nodes: at most {} are taken", kMostScopes));
  }
  for (const std::string& node : order.nodes) {
    if (const Status good = CheckNodeScope(node); !good) {
      return Invalid("nodes: " + good.error().message);
    }
  }
  return {};
}

}  // namespace

Status CheckTokenName(std::string_view name) {
  for (const std::string_view beginning : {kProxySender, kCertificateSender}) {
    if (!name.starts_with(beginning)) continue;
    return Invalid(Format("name: with '{}' begin senders that have no token", beginning));
  }
  return CheckLabel("name", name);
}

Status CheckOrder(const TokenOrder& order) {
  if (const Status good = CheckTokenName(order.name); !good) return good;
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
  if (Status good = CheckNodes(order); !good) return good;
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
                      .nodes = order.nodes,
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
