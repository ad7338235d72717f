// --trusted-proxy through the real service: only a proxy that knows the secret is believed.

#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class ProxyTest : public ApiTest {
 protected:
  explicit ProxyTest(bool demand_tokens = true) : ApiTest(demand_tokens) {}

  static std::string Secret(const std::string& secret = ApiService::kProxySecret) {
    return "X-Stepscope-Proxy-Secret: " + secret + "\r\n";
  }
  std::string GetWith(const std::string& headers, const std::string& target = "/api/v1/session") {
    return service_.Ask("GET", target, "", headers);
  }
};

TEST_F(ProxyTest, APersonBehindTheProxyIsWhoItSays) {
  const std::string user = Secret() + "X-Stepscope-User: maria\r\n";
  EXPECT_EQ(ApiService::JsonOf(GetWith(user))["role"], "reader");
  const Json known = ApiService::JsonOf(GetWith(user + "X-Stepscope-Role: operator\r\n"));
  EXPECT_EQ(known["name"], "maria");
  EXPECT_EQ(known["role"], "operator");
  ExpectProblem(GetWith(user + "X-Stepscope-Role: root\r\n"), 400, "bad-request");
}

TEST_F(ProxyTest, NobodyElseIsBelieved) {
  const std::string user = "X-Stepscope-User: maria\r\nX-Stepscope-Role: admin\r\n";
  ExpectProblem(GetWith(user), 401, "unauthorized");
  ExpectProblem(GetWith(Secret("0123456789abcdeF") + user), 401, "unauthorized");
  ExpectProblem(GetWith(Secret("") + user), 401, "unauthorized");
  const std::string token = "Authorization: Bearer " + service_.Token(Role::kReader) + "\r\n";
  EXPECT_EQ(ApiService::JsonOf(GetWith(user + token))["role"], "reader");
}

// "X_Stepscope_User" is the same header to some programs; here it is none, whoever sends it.
TEST_F(ProxyTest, OtherSpellingsOfItsHeadersMeanNothing) {
  for (const char* spelling :
       {"X_Stepscope_User: maria\r\nX_Stepscope_Role: admin\r\n",
        "x-stepscope_user: maria\r\nx-stepscope-role: admin\r\n", "Remote-User: maria\r\n"}) {
    const int status = StatusOf(GetWith(Secret() + spelling));
    EXPECT_TRUE(status == 401 || status == 400) << spelling << status;
  }
}

TEST_F(ProxyTest, TheLoginOfAProxyIsNoUseToAForeignPage) {
  const std::string user =
      Secret() + "X-Stepscope-User: maria\r\nX-Stepscope-Role: admin\r\n" + ApiService::kJsonHeader;
  const std::string body = Dump(Json{{"name", "x"}, {"role", "admin"}});
  const auto make = [&](const std::string& from) {
    return service_.Ask("POST", "/api/v1/tokens", body, user + from);
  };
  ExpectProblem(make("Origin: https://evil.example.com\r\n"), 403, "foreign-origin");
  ExpectProblem(make(""), 403, "foreign-origin");
  EXPECT_EQ(StatusOf(make("Sec-Fetch-Site: same-origin\r\n")), 201);
}

TEST_F(ProxyTest, TheRecordOfChangesNamesThePersonAndTheirAddress) {
  const std::string user =
      Secret() +
      "X-Stepscope-User: maria\r\nX-Stepscope-Role: admin\r\n"
      "X-Forwarded-For: 198.51.100.7, 127.0.0.2\r\nOrigin: http://localhost\r\n";
  EXPECT_EQ(StatusOf(service_.Ask("POST", "/api/v1/jobs", Dump(Json{{"name", "mlp"}}),
                                  user + ApiService::kJsonHeader)),
            201);
  const Json row = ApiService::JsonOf(GetWith(user, "/api/v1/audit"))["items"][0];
  EXPECT_EQ(row["name"], "maria");
  EXPECT_EQ(row["peer"], "198.51.100.7");
  EXPECT_EQ(row["action"], "job.create");
}

TEST_F(ProxyTest, BadTokensCountForTheAddressBehindTheProxy) {
  const std::string bad = "Authorization: Bearer nonsense\r\n";
  const auto from = [&](const std::string& address) {
    return StatusOf(GetWith(Secret() + "X-Forwarded-For: " + address + "\r\n" + bad));
  };
  for (int count = 0; count < 10; ++count) EXPECT_EQ(from("198.51.100.7"), 401);
  EXPECT_EQ(from("198.51.100.7"), 429);
  EXPECT_EQ(from("198.51.100.8"), 401);
  // An address that a client put in front of its own does not help it.
  EXPECT_EQ(from("203.0.113.9, 198.51.100.7"), 429);
}

class OpenProxyTest : public ProxyTest {
 protected:
  OpenProxyTest() : ProxyTest(false) {}
};

// Without tokens everyone on this machine is an admin; a request through a proxy is not from this
// machine.
TEST_F(OpenProxyTest, WhoComesThroughAProxyIsNotTakenForThisMachine) {
  EXPECT_EQ(ApiService::JsonOf(GetWith(""))["access"], "open");
  for (const std::string& headers :
       {Secret(), Secret() + "X-Forwarded-For: 127.0.0.1\r\n",
        std::string("X-Forwarded-For: 127.0.0.1\r\n"), std::string("X-Real-IP: 127.0.0.1\r\n"),
        std::string("Forwarded: for=127.0.0.1\r\n")}) {
    EXPECT_EQ(StatusOf(GetWith(headers)), 401) << headers;
    EXPECT_EQ(StatusOf(GetWith(headers, "/metrics")), 401) << headers;
  }
}

}  // namespace
}  // namespace stepscope
