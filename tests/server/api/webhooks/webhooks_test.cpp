#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

class WebhooksTest : public ApiTest {
 protected:
  Json Register(const std::string& url) {
    return ApiService::JsonOf(service_.Post("/api/v1/webhooks", Dump(Json{{"url", url}})));
  }
};

TEST_F(WebhooksTest, TheSecretIsShownOnce) {
  const Json made = Register("https://example.com/hook");
  EXPECT_TRUE(made["secret"].get<std::string>().starts_with("whsec_")) << made;
  const std::string id = made["id"];
  EXPECT_EQ(service_.Get("/api/v1/webhooks").find("whsec_"), std::string::npos);
  EXPECT_EQ(service_.Get("/api/v1/webhooks/" + id).find("whsec_"), std::string::npos);
}

TEST_F(WebhooksTest, AChangeKeepsTheAddressTheSecretAndWhatItLeavesOut) {
  const std::string id = Register("https://example.com/hook")["id"];
  const std::string path = "/api/v1/webhooks/" + id;
  const auto change = [&](const char* body) {
    const std::string answer = service_.Ask("PATCH", path, body);
    EXPECT_EQ(StatusOf(answer), 200) << answer;
    EXPECT_EQ(ApiService::JsonOf(answer), service_.GetJson(path)) << "what is stored";
    return ApiService::JsonOf(answer);
  };
  const Json events = change(R"({"events":["rule.issues_found","job.failed"]})");
  EXPECT_EQ(events["events"], (Json{"rule.issues_found", "job.failed"}));
  EXPECT_EQ(events["url"], "https://example.com/hook");
  EXPECT_FALSE(events.contains("secret"));
  EXPECT_EQ(change(R"({"after_seconds":600})")["events"], events["events"]);
  EXPECT_EQ(change(R"({"enabled":false})")["after_seconds"], 600);
  EXPECT_EQ(change(R"({"after_seconds":60})")["enabled"], false);
  EXPECT_EQ(change(R"({"enabled":true,"events":[]})")["events"], Json::array());
}

TEST_F(WebhooksTest, AWrongChangeIsRefusedWhole) {
  const std::string id = Register("https://example.com/hook")["id"];
  const std::string path = "/api/v1/webhooks/" + id;
  const Json before = service_.GetJson(path);
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"url":"https://a.b/","enabled":false})", "there is no member 'url'"},
      {R"({"secret":"whsec_x"})", "there is no member 'secret'"},
      {R"({"enabled":"no"})", "true or false is wanted"},
      {R"({"enabled":false,"events":["nope"]})", "there is no event 'nope'"},
      {R"({"events":["job.failed"],"after_seconds":60})", "not among the events"},
      {R"({"after_seconds":86401,"enabled":false})", "after_seconds"},
      {"{}", "changes nothing"},
      {"[]", ""},
      {"{", ""}};
  for (const auto& [body, why] : wrong) {
    ExpectProblem(service_.Ask("PATCH", path, body), 400, "invalid-body", why);
  }
  EXPECT_EQ(service_.GetJson(path), before);
  for (const char* nobody : {"/api/v1/webhooks/4711", "/api/v1/webhooks/x"}) {
    EXPECT_EQ(StatusOf(service_.Ask("PATCH", nobody, R"({"enabled":true})")), 404) << nobody;
  }
}

TEST_F(WebhooksTest, AnAddressIsRegisteredOnce) {
  Register("https://example.com/hook");
  ExpectProblem(service_.Post("/api/v1/webhooks", R"({"url":"https://example.com/hook"})"), 409,
                "webhook-exists");
}

// Each event is a message to each of them, in the transaction that tells it.
TEST_F(WebhooksTest, ThereAreNotMoreThanOneServiceHas) {
  for (int i = 0; i < 100; ++i) Register(Format("https://example.com/{}", i));
  ExpectProblem(service_.Post("/api/v1/webhooks", R"({"url":"https://example.com/more"})"), 409,
                "limit-webhooks");
}

TEST_F(WebhooksTest, WrongBodiesAreRefused) {
  for (const char* body :
       {"{}", R"({"url":"http://127.0.0.1/"})", R"({"url":"https://a.b/","events":["nope"]})",
        R"({"url":"https://a.b/","events":"rule.error"})", R"({"url":"https://a.b/","secret":"x"})",
        R"({"url":"https://a.b/","events":["rule.error","rule.error"]})"}) {
    ExpectProblem(service_.Post("/api/v1/webhooks", body), 400, "invalid-body");
  }
  EXPECT_EQ(service_.GetJson("/api/v1/webhooks")["items"], Json::array());
}

TEST_F(WebhooksTest, AnEventOfARuleMayNameTheRule) {
  const std::string made = service_.Post(
      "/api/v1/webhooks",
      R"({"url":"https://a.b/","events":["rule.issues_found:IdleGPU","rule.cleared:Custom","job.failed"]})");
  EXPECT_EQ(StatusOf(made), 201) << made;
  EXPECT_EQ(service_.GetJson("/api/v1/webhooks")["items"][0]["events"],
            (Json{"rule.issues_found:IdleGPU", "rule.cleared:Custom", "job.failed"}));
  const std::vector<std::pair<std::string, std::string>> wrong = {
      {"rule.issues_found:IdleGPUs", "there is no rule 'IdleGPUs'; did you mean IdleGPU"},
      {"rule.issues_found:", "there is no rule ''"},
      {"job.failed:IdleGPU", "job.failed is of no rule"},
      {"moon.rise:IdleGPU", "there is no event 'moon.rise'"},
      {"rule.error:" + std::string(5'000, 'x'), "there is no rule 'xxx"},
      {"rule.error:IdleGPU:10m", "there is no rule 'IdleGPU:10m'"}};
  for (const auto& [event, why] : wrong) {
    const Json body = {{"url", "https://c.d/"}, {"events", {event}}};
    ExpectProblem(service_.Post("/api/v1/webhooks", Dump(body)), 400, "invalid-body", why);
  }
}

TEST_F(WebhooksTest, AFindingMayHaveToLast) {
  const Json made = ApiService::JsonOf(
      service_.Post("/api/v1/webhooks", R"({"url":"https://a.b/","after_seconds":600})"));
  EXPECT_EQ(made["after_seconds"], 600) << made;
  EXPECT_EQ(service_.GetJson("/api/v1/webhooks")["items"][0]["after_seconds"], 600);
  EXPECT_EQ(Register("https://c.d/")["after_seconds"], 0) << "as before there was the member";
  const std::pair<const char*, const char*> wrong[] = {
      {R"({"url":"https://e.f/","after_seconds":-1})", "after_seconds"},
      {R"({"url":"https://e.f/","after_seconds":86401})", "after_seconds"},
      {R"({"url":"https://e.f/","after_seconds":99999999999999999999})", "after_seconds"},
      {R"({"url":"https://e.f/","after_seconds":"10m"})", "after_seconds"},
      {R"({"url":"https://e.f/","after_seconds":1.5})", "after_seconds"},
      {R"({"url":"https://e.f/","after_seconds":60,"events":["rule.cleared"]})",
       "not among the events"}};
  for (const auto& [body, why] : wrong) {
    ExpectProblem(service_.Post("/api/v1/webhooks", body), 400, "invalid-body", why);
  }
}

TEST_F(WebhooksTest, ATestMessageStandsInTheLog) {
  const std::string id = Register("https://example.com/hook")["id"];
  const std::string answer = service_.Post("/api/v1/webhooks/" + id + "/test", "{}");
  EXPECT_EQ(StatusOf(answer), 202) << answer;
  const Json log = service_.GetJson("/api/v1/deliveries?webhook=" + id);
  EXPECT_EQ(log["total"], 1);
  EXPECT_EQ(log["items"][0]["event"], "webhook.test");
  EXPECT_EQ(log["items"][0]["state"], "ready");
}

TEST_F(WebhooksTest, OnlyWhatIsDoneMayBeSentAgain) {
  const std::string id = Register("https://example.com/hook")["id"];
  const std::string delivery =
      ApiService::JsonOf(service_.Post("/api/v1/webhooks/" + id + "/test", ""))["id"];
  const std::string retry = "/api/v1/deliveries/" + delivery + "/retry";
  ExpectProblem(service_.Post(retry, ""), 409, "delivery-waits");
  service_.database().Connect()->Query("update deliveries set state = 'dead'").ok();
  const std::string answer = service_.Post(retry, "");
  EXPECT_EQ(StatusOf(answer), 202) << answer;
  EXPECT_EQ(ApiService::JsonOf(answer)["state"], "ready");
}

TEST_F(WebhooksTest, DeletedOnesAreGone) {
  const std::string id = Register("https://example.com/hook")["id"];
  EXPECT_EQ(StatusOf(service_.Ask("DELETE", "/api/v1/webhooks/" + id)), 204);
  ExpectProblem(service_.Ask("DELETE", "/api/v1/webhooks/" + id), 404, "not-found");
  ExpectProblem(service_.Post("/api/v1/webhooks/" + id + "/test", ""), 404, "not-found");
}

TEST_F(WebhooksTest, NumbersThatAreNoneAreNotFound) {
  for (const std::string id : {"0", "-1", "01", "x", "1e3", "99999999999999999999"}) {
    ExpectProblem(service_.Get("/api/v1/webhooks/" + id), 404, "not-found");
  }
  ExpectProblem(service_.Get("/api/v1/deliveries?webhook=0"), 400, "invalid-parameter");
  ExpectProblem(service_.Get("/api/v1/deliveries?job=nobody"), 404, "not-found");
}

}  // namespace
}  // namespace stepscope
