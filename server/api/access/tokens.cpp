// /tokens: creates, lists and revokes tokens. Their texts are shown once, when they are created.

#include "server/store/access/tokens.h"

#include "core/base/text.h"
#include "core/model/names.h"
#include "server/access/issue.h"
#include "server/access/scope.h"
#include "server/api/http/answer.h"
#include "server/api/http/body.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"

namespace stepscope {
namespace {

OrderedJson ToJson(const TokenRow& token, const std::string& text = "") {
  OrderedJson json = {{"id", token.token_id}, {"name", token.name}, {"role", token.role}};
  json["scopes"] = token.scopes;
  json["nodes"] = token.nodes;
  if (!text.empty()) json["token"] = text;
  PutTime(json, "created", token.created_us);
  json["created_by"] = token.created_by;
  PutTime(json, "expires", token.expires_us);
  PutTime(json, "last_used", token.last_used_us);
  PutTime(json, "revoked", token.revoked_us);
  return json;
}

void ReadScopes(Body& body, TokenOrder& order) {
  const Json scopes = body.Array(body.root(), "", "scopes", kMostScopes);
  for (std::size_t at = 0; at < scopes.size(); ++at) {
    const std::string scope = scopes[at].is_string() ? scopes[at].get<std::string>() : "";
    if (const Status good = CheckScope(scope); !good) {
      body.Note(Format("/scopes/{}", at), good.error().message);
    }
    order.scopes.push_back(scope);
  }
  if (order.role == Role::kAdmin && !scopes.empty()) {
    body.Note("/scopes", "an admin sees all jobs; leave them out");
  }
}

void ReadNodes(Body& body, TokenOrder& order) {
  const Json nodes = body.Array(body.root(), "", "nodes", kMostScopes);
  for (std::size_t at = 0; at < nodes.size(); ++at) {
    const std::string node = nodes[at].is_string() ? nodes[at].get<std::string>() : "";
    if (const Status good = CheckNodeScope(node); !good) {
      body.Note(Format("/nodes/{}", at), good.error().message);
    }
    order.nodes.push_back(node);
  }
  if (!nodes.empty() && order.role != Role::kAgent && order.role != Role::kOperator) {
    body.Note("/nodes", "only a token of an agent or operator can be for some; leave them out");
  }
}

TokenOrder ReadOrder(Body& body) {
  TokenOrder order;
  body.AllowOnly(body.root(), "", {"name", "role", "scopes", "nodes", "expires_days"});
  order.name = body.Text(body.root(), "", "name", 1'000);
  if (const Status good = CheckTokenName(order.name); !good) {
    body.Note("/name", good.error().message);
  }
  order.role = ParseRole(body.Text(body.root(), "", "role", 63)).value_or(Role::kNone);
  if (order.role == Role::kNone) body.Note("/role", "agent, reader, operator or admin is wanted");
  ReadScopes(body, order);
  ReadNodes(body, order);
  order.expires_days =
      body.Integer(body.root(), "", "expires_days", 1, kMostTokenDays, kMostTokenDays);
  return order;
}

Result<Reply> CreateOneToken(const Api& api, Connection& connection, const Request& request,
                             const PathParameters&) {
  const Query query(request, {});
  Body body(request);
  const TokenOrder order = ReadOrder(body);

  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);

  const Result<IssuedToken> issued =
      IssueToken(connection, order, request.caller->name, ToMicros(api.clock.Now()));
  if (!issued) return issued.error();

  Reply reply = JsonReply(ToJson(issued->row, issued->text), 201);
  reply.headers.emplace_back("Location", "/api/v1/tokens/" + issued->row.token_id);
  return reply;
}

Result<Reply> ListAllTokens(const Api&, Connection& connection, const Request& request,
                            const PathParameters&) {
  const Query query(request, kPageQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<TokenPage> page =
      ListTokens(connection, query.Text("cursor"), static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());
  return JsonReply(PageJson(
      *page, [](const TokenRow& token) { return ToJson(token); }, "tokens"));
}

Result<Reply> RevokeOneToken(const Api& api, Connection& connection, const Request& request,
                             const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  const Status revoked = RevokeToken(connection, path.at("id"), ToMicros(api.clock.Now()));
  if (!revoked) return revoked.error();
  return Reply{.status = 204, .content_type = "", .body = "", .headers = {}};
}

}  // namespace

std::vector<Route> TokenRoutes(const Api& api) {
  return {
      ForDatabase(api, Right::kAdminister, "GET", "/api/v1/tokens", ListAllTokens),
      ForChange(api, Right::kAdminister, "POST", "/api/v1/tokens", "token.create", CreateOneToken),
      Forgetting(ForChange(api, Right::kAdminister, "DELETE", "/api/v1/tokens/{id}", "token.revoke",
                           RevokeOneToken),
                 [&api](const std::string& id) { api.access.ForgetToken(id); })};
}

}  // namespace stepscope
