// Tokens and sessions as a browser and an admin use them, where tokens are demanded.

#include <set>

#include "server/access/token.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

const std::string kSameOrigin =
    std::string(ApiService::kJsonHeader) + "Sec-Fetch-Site: same-origin\r\n";

class SessionTest : public ApiTest {
 protected:
  SessionTest() : ApiTest(true) {}

  std::string SignIn(const std::string& token, const std::string& headers = kSameOrigin) {
    return service_.Ask("POST", "/api/v1/session", Dump(Json{{"token", token}}), headers);
  }
  // The cookie of a browser that signed in with a token of this role.
  std::string CookieOf(Role role) {
    const std::string set = HeaderOf(SignIn(service_.Token(role)), "set-cookie");
    return "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  }
  std::string AskWith(const std::string& headers, std::string_view method,
                      const std::string& target, const std::string& body = "") {
    return service_.Ask(method, target, body, headers);
  }
};

TEST_F(SessionTest, ABrowserSignsInIsKnownAndSignsOut) {
  const std::string answer = SignIn(service_.Token(Role::kReader, {"team-a-*"}));
  ASSERT_EQ(StatusOf(answer), 200) << answer;
  const Json entered = ApiService::JsonOf(answer);
  EXPECT_EQ(entered["name"], "a reader");
  EXPECT_EQ(entered["role"], "reader");
  EXPECT_EQ(entered["scopes"], Json::array({"team-a-*"}));
  const std::string set = HeaderOf(answer, "set-cookie");
  const std::string cookie = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";

  Json found = ApiService::JsonOf(AskWith(cookie, "GET", "/api/v1/session"));
  EXPECT_EQ(found["access"], "tokens");
  EXPECT_FALSE(found["version"].get<std::string>().empty());
  EXPECT_GT(found["server_time_us"].get<std::int64_t>(), 0);
  for (const char* only_here : {"access", "version", "server_time_us"}) found.erase(only_here);
  EXPECT_EQ(found, entered);

  const std::string left = AskWith(cookie + kSameOrigin, "DELETE", "/api/v1/session");
  EXPECT_EQ(StatusOf(left), 204);
  EXPECT_NE(HeaderOf(left, "set-cookie").find("st=; Path=/; Max-Age=0"), std::string::npos) << left;
  ExpectProblem(AskWith(cookie, "GET", "/api/v1/session"), 401, "unauthorized");
}

// Whoever signs out says a secret that is looked up.
TEST_F(SessionTest, OneAddressDoesNotSignOutAllTheTime) {
  std::string answer;
  int asked = 0;
  do {
    answer =
        AskWith(Format("Cookie: st={:064}\r\n", asked) + kSameOrigin, "DELETE", "/api/v1/session");
  } while (StatusOf(answer) == 204 && ++asked < 1'000);
  EXPECT_GE(asked, 60);
  ExpectProblem(answer, 429, "too-many-requests");
  EXPECT_FALSE(HeaderOf(answer, "retry-after").empty());
  EXPECT_EQ(StatusOf(AskWith(kSameOrigin, "DELETE", "/api/v1/session")), 204) << "it says none";
}

TEST_F(SessionTest, CredentialsOfOneKindAreNoneOfTheOther) {
  const std::string token = service_.Token(Role::kReader);
  const std::string set = HeaderOf(SignIn(token), "set-cookie");
  const std::string secret = set.substr(3, set.find(';') - 3);
  const auto expect_mixes_refused = [&] {
    ExpectProblem(service_.AskAs(secret, "GET", "/api/v1/jobs"), 401, "unauthorized");
    ExpectProblem(AskWith("Cookie: st=" + token + "\r\n", "GET", "/api/v1/jobs"), 401,
                  "unauthorized");
    ExpectProblem(SignIn(secret), 401, "unauthorized");
  };
  expect_mixes_refused();
  EXPECT_EQ(StatusOf(AskWith("Cookie: st=" + secret + "\r\n", "GET", "/api/v1/jobs")), 200);
  EXPECT_EQ(StatusOf(service_.AskAs(token, "GET", "/api/v1/jobs")), 200);
  expect_mixes_refused();
}

TEST_F(SessionTest, TheCookieIsOutOfReachOfScriptsAndOtherSites) {
  const std::string set = HeaderOf(SignIn(service_.Token(Role::kReader)), "set-cookie");
  EXPECT_TRUE(set.starts_with("st=")) << set;
  for (const char* part : {"; Path=/", "; HttpOnly", "; SameSite=Strict", "; Max-Age="}) {
    EXPECT_NE(set.find(part), std::string::npos) << set;
  }
  EXPECT_EQ(set.find("Domain"), std::string::npos);
}

TEST_F(SessionTest, UnknownExpiredAndRevokedTokensAreToldApartByNobody) {
  const IssuedToken revoked = service_.Token({.name = "gone", .role = Role::kReader});
  EXPECT_EQ(StatusOf(service_.AskAs(service_.Token(Role::kAdmin), "DELETE",
                                    "/api/v1/tokens/" + revoked.row.token_id)),
            204);
  const IssuedToken expired = service_.Token({.name = "old", .role = Role::kReader});
  ASSERT_TRUE(service_.database()
                  .Connect()
                  ->Query("update tokens set expires_us = 1 where name = 'old'")
                  .ok());
  const std::string unknown = MakeToken(Role::kReader)->text;
  std::set<std::string> details;
  for (const std::string& token : {revoked.text, expired.text, unknown, unknown + "x"}) {
    const std::string answer = service_.AskAs(token, "GET", "/api/v1/jobs");
    ExpectProblem(answer, 401, "unauthorized");
    EXPECT_EQ(HeaderOf(answer, "www-authenticate"), "Bearer");
    details.insert(ApiService::JsonOf(answer)["detail"]);
    ExpectProblem(SignIn(token), 401, "unauthorized");
  }
  EXPECT_EQ(details.size(), 1U);
}

TEST_F(SessionTest, TenBadTokensAreTheLast) {
  const std::string good = service_.Token(Role::kReader);
  EXPECT_EQ(StatusOf(service_.AskAs(good, "GET", "/api/v1/jobs")), 200);
  for (int count = 0; count < 10; ++count) {
    ExpectProblem(SignIn(MakeToken(Role::kAdmin)->text), 401, "unauthorized");
  }
  const std::string answer = SignIn(MakeToken(Role::kAdmin)->text);
  ExpectProblem(answer, 429, "too-many-requests");
  EXPECT_GT(std::stoi(HeaderOf(answer, "retry-after")), 30);
  // A token that was accepted before still is; an unknown one has to wait.
  EXPECT_EQ(StatusOf(service_.AskAs(good, "GET", "/api/v1/jobs")), 200);
  EXPECT_EQ(StatusOf(service_.AskAs(service_.Token(Role::kReader), "GET", "/api/v1/jobs")), 429);
}

TEST_F(SessionTest, ATokenIsShownOnceAndListedWithoutItsText) {
  const std::string admin = service_.Token(Role::kAdmin);
  const std::string body = Dump(Json{{"name", "cluster"}, {"role", "agent"}, {"scopes", {"a-*"}}});
  const std::string answer = service_.AskAs(admin, "POST", "/api/v1/tokens", body);
  ASSERT_EQ(StatusOf(answer), 201) << answer;
  const Json made = ApiService::JsonOf(answer);
  const std::string text = made["token"];
  EXPECT_TRUE(text.starts_with("st_agent_" + made["id"].get<std::string>()));
  EXPECT_EQ(made["created_by"], "a admin");
  EXPECT_EQ(made["last_used"], nullptr);

  const std::string list = service_.AskAs(admin, "GET", "/api/v1/tokens");
  EXPECT_EQ(list.find(text.substr(text.size() - 38)), std::string::npos);
  EXPECT_EQ(ApiService::JsonOf(list)["tokens"][0]["id"], made["id"]);
  EXPECT_EQ(ApiService::JsonOf(list)["total"], 2);

  const auto kept = service_.database().Connect()->Query("select tokens::text from tokens");
  for (std::size_t i = 0; i < kept->size(); ++i) {
    EXPECT_EQ(kept->Text(i, 0).find(text.substr(text.size() - 38, 32)), std::string::npos);
  }
}

TEST_F(SessionTest, TokensAreListedInPages) {
  const std::string admin = service_.Token(Role::kAdmin);
  for (int count = 0; count < 4; ++count) service_.Token(Role::kAgent);
  std::set<std::string> seen;
  std::string cursor;
  do {
    const Json page =
        ApiService::JsonOf(service_.AskAs(admin, "GET", "/api/v1/tokens?limit=2" + cursor));
    for (const Json& token : page["tokens"]) seen.insert(token["id"]);
    cursor = page["next"].is_null() ? "" : "&cursor=" + page["next"].get<std::string>();
  } while (!cursor.empty());
  EXPECT_EQ(seen.size(), 5U);
  ExpectProblem(service_.AskAs(admin, "GET", "/api/v1/tokens?cursor=MTIz"), 400,
                "invalid-parameter");
}

TEST_F(SessionTest, WhatATokenCannotBeIsRefusedByItsPlace) {
  const std::string admin = service_.Token(Role::kAdmin);
  const std::pair<Json, const char*> cases[] = {
      {{{"name", ""}, {"role", "agent"}}, "/name"},
      {{{"name", "x"}, {"role", "root"}}, "/role"},
      {{{"name", "x"}, {"role", "agent"}, {"scopes", {"a", "*"}}}, "/scopes/1"},
      {{{"name", "x"}, {"role", "admin"}, {"scopes", {"a"}}}, "/scopes"},
      {{{"name", "x"}, {"role", "agent"}, {"nodes", {"a", "*"}}}, "/nodes/1"},
      {{{"name", "x"}, {"role", "reader"}, {"nodes", {"a"}}}, "/nodes"},
      {{{"name", "proxy:x"}, {"role", "agent"}}, "/name"},
      {{{"name", "x"}, {"role", "agent"}, {"expires_days", 366}}, "/expires_days"},
  };
  for (const auto& [body, pointer] : cases) {
    const std::string answer = service_.AskAs(admin, "POST", "/api/v1/tokens", Dump(body));
    ExpectProblem(answer, 400, "invalid-body");
    EXPECT_EQ(ApiService::JsonOf(answer)["errors"][0]["pointer"], pointer) << answer;
  }
}

TEST_F(SessionTest, RevokingEndsTheTokenAndItsBrowsersAtOnce) {
  const std::string admin = service_.Token(Role::kAdmin);
  const IssuedToken token = service_.Token({.name = "maria", .role = Role::kReader});
  const std::string set = HeaderOf(SignIn(token.text), "set-cookie");
  const std::string cookie = "Cookie: " + set.substr(0, set.find(';')) + "\r\n";
  EXPECT_EQ(StatusOf(service_.AskAs(token.text, "GET", "/api/v1/jobs")), 200);
  EXPECT_EQ(StatusOf(AskWith(cookie, "GET", "/api/v1/jobs")), 200);

  const std::string path = "/api/v1/tokens/" + token.row.token_id;
  EXPECT_EQ(StatusOf(service_.AskAs(admin, "DELETE", path)), 204);
  EXPECT_EQ(StatusOf(service_.AskAs(token.text, "GET", "/api/v1/jobs")), 401);
  const std::string answer = AskWith(cookie, "GET", "/api/v1/jobs");
  EXPECT_EQ(StatusOf(answer), 401);
  EXPECT_NE(HeaderOf(answer, "set-cookie").find("Max-Age=0"), std::string::npos);
  EXPECT_EQ(StatusOf(service_.AskAs(admin, "DELETE", path)), 204);
  ExpectProblem(service_.AskAs(admin, "DELETE", "/api/v1/tokens/00000000"), 404, "not-found");
}

TEST_F(SessionTest, ChangesAreWrittenDownWithWhoMadeThem) {
  const IssuedToken admin = service_.Token({.name = "maria", .role = Role::kAdmin});
  const auto change = [&](std::string_view method, const std::string& target,
                          const Json& body = Json::object()) {
    return service_.AskAs(admin.text, method, target, method == "POST" ? Dump(body) : "");
  };
  change("POST", "/api/v1/jobs", {{"name", "mlp"}});
  change("POST", "/api/v1/jobs", {{"name", "mlp"}, {"group", "other"}});  // refused
  change("POST", "/api/v1/webhooks", {{"url", "https://a.example.com/"}});
  change("DELETE", "/api/v1/webhooks/1");
  change("DELETE", "/api/v1/webhooks/1");  // refused
  const Json audit = ApiService::JsonOf(service_.AskAs(admin.text, "GET", "/api/v1/audit"));
  ASSERT_EQ(audit["total"], 3) << audit;
  const char* actions[] = {"webhook.delete", "webhook.create", "job.create"};
  const char* targets[] = {"1", "1", "mlp"};
  for (int at = 0; at < 3; ++at) {
    const Json& row = audit["items"][at];
    EXPECT_EQ(row["action"], actions[at]);
    EXPECT_EQ(row["target"], targets[at]);
    EXPECT_EQ(row["name"], "maria");
    EXPECT_EQ(row["token_id"], admin.row.token_id);
  }
}

}  // namespace
}  // namespace stepscope
