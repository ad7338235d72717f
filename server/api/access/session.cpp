// /session: browsers sign in with a token, and out again.

#include <memory>

#include "server/access/rates.h"
#include "server/api/http/answer.h"
#include "server/api/http/body.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/front/credentials.h"
#include "server/front/denial.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostToken = 200;
constexpr RateLimits::Rate kSignOuts{1, 60};  // those from one address

OrderedJson ToJson(const Caller& caller) {
  return {{"name", caller.name},
          {"role", ToText(caller.role)},
          {"scopes", caller.scopes},
          {"expires_us", caller.expires_us ? OrderedJson(*caller.expires_us) : nullptr}};
}

Reply ShowSession(const Api& api, const Request& request) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  OrderedJson json = ToJson(*request.caller);
  json["access"] = request.caller->how == Caller::kOpen ? "open" : "tokens";
  json["version"] = api.version;
  json["server_time_us"] = ToMicros(api.clock.Now());
  return JsonReply(json);
}

Reply OpenSession(const Api& api, const Request& request) {
  const Query query(request, {});
  Body body(request);
  body.AllowOnly(body.root(), "", {"token"});
  const std::string token = body.Text(body.root(), "", "token", kMostToken);
  if (token.empty() && body.faults().empty()) body.Note("/token", "is missing");

  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);

  const auto [identity, cookie] = api.access.SignIn(token, request.peer);
  if (identity.kind != Identity::kKnown) return Deny(identity, request);

  Reply reply = JsonReply(ToJson(*identity.caller));
  const std::int64_t left_us = *identity.caller->expires_us - ToMicros(api.clock.Now());
  reply.headers.emplace_back("Set-Cookie", SessionCookie(request, cookie, left_us / 1'000'000));
  return reply;
}

// Nobody has to say who they are to sign out, and each cookie is asked of the database.
Reply CloseSession(const Api& api, const Request& request, RateLimits& limits) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  const Credentials shown = CredentialsOf(request);
  const Duration wait =
      shown.session ? limits.Take(request.peer, 1, api.clock.Steady()) : Duration::zero();
  if (wait > Duration::zero()) {
    return ToReply(SendRefusal{"too-many-requests", "one address may not sign out so often", wait},
                   request);
  }
  const Status closed = shown.session ? api.access.SignOut(*shown.session) : Status();
  if (!closed) return ToReply(closed.error(), request);

  return {.status = 204,
          .content_type = "",
          .body = "",
          .headers = {{"Set-Cookie", SessionCookie(request, "", 0)}}};
}

}  // namespace

std::vector<Route> SessionRoutes(const Api& api) {
  const auto limits = std::make_shared<RateLimits>(kSignOuts);  // shared, as routes are copied
  return {{.method = "GET",
           .pattern = "/api/v1/session",
           .handler = [&api](const Request& request,
                             const PathParameters&) { return ShowSession(api, request); },
           .right = Right::kSignedIn},
          {.method = "POST",
           .pattern = "/api/v1/session",
           .handler = [&api](const Request& request,
                             const PathParameters&) { return OpenSession(api, request); },
           .right = Right::kOpen},
          {.method = "DELETE",
           .pattern = "/api/v1/session",
           .handler = [&api, limits](
                          const Request& request,
                          const PathParameters&) { return CloseSession(api, request, *limits); },
           .right = Right::kOpen}};
}

}  // namespace stepscope
