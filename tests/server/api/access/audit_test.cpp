// Every route that changes something leaves a row with the caller, the address, and the change.

#include <set>

#include "core/base/text.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

// Signing in and out concerns the caller alone, agents and others send all the time, and a preview
// and a batch store nothing.
const std::set<std::string> kNotWrittenDown = {"POST /api/v1/session",
                                               "DELETE /api/v1/session",
                                               "POST /api/v1/ingest/frames",
                                               "POST /api/v1/jobs/{name}/samples",
                                               "POST /api/v1/jobs/{name}/rules/preview",
                                               "POST /api/v1/batch"};

struct Change {
  const char* call;  // the route's, in the table
  std::string id;    // stands for the part in braces
  Json body;
  int status;
  const char *action, *target;
};

class AuditTest : public ApiTest {
 protected:
  AuditTest() : ApiTest(true) {
    service_.PushAs(admin_.text, TestAgent("mlp", "train-7").StartedAllowing({"spans"}, kStartUs));
  }

  // The row of the newest change; null when nobody changed anything.
  Json Newest() {
    const Json page =
        ApiService::JsonOf(service_.AskAs(admin_.text, "GET", "/api/v1/audit?limit=1"));
    return page.value("items", Json::array()).empty() ? Json() : page["items"][0];
  }
  std::string Make(const Change& change) {
    const std::string call = change.call;
    const std::size_t space = call.find(' ');
    std::string target = call.substr(space + 1);
    const std::size_t from = target.find('{');
    if (from != target.npos) target.replace(from, target.find('}') - from + 1, change.id);
    const std::size_t second = target.find("{id}");
    if (second != target.npos) target.replace(second, 4, "2");  // the window of the trace
    return service_.AskAs(admin_.text, call.substr(0, space), target,
                          change.body.is_null() ? "" : Dump(change.body),
                          target.ends_with("/traces") ? "Content-Type: application/octet-stream\r\n"
                                                      : ApiService::kJsonHeader);
  }
  // Gives up the first message.
  void GiveUpTheMessage() {
    EXPECT_TRUE(service_.database().Connect()->Query("update deliveries set state = 'dead'").ok());
  }

  const IssuedToken admin_ = service_.Token({.name = "maria", .role = Role::kAdmin});
  const IssuedToken other_ = service_.Token({.name = "other", .role = Role::kReader});
};

TEST_F(AuditTest, EveryRouteThatChangesSomethingIsWrittenDown) {
  const std::string token = other_.row.token_id;
  const Change changes[] = {
      {"POST /api/v1/jobs", "", {{"name", "new"}}, 201, "job.create", "new"},
      {"PATCH /api/v1/jobs/{name}",
       "new",
       {{"configuration", {{"interval_ms", 250}}}},
       200,
       "job.change",
       "new"},
      {"PATCH /api/v1/jobs/{name}",
       "new",
       {{"configuration", {{"rules", {{{"name", "IdleGPU"}, {"remove", true}}}}}}},
       200,
       "job.change",
       "new"},
      {"POST /api/v1/jobs/{name}/windows", "mlp", {{"start_step", 9}}, 201, "window.ask", "mlp"},
      {"POST /api/v1/jobs/{name}/traces",
       "mlp",
       {{{"ph", "X"}, {"name", "op"}, {"ts", 1}, {"dur", 1}}},
       201,
       "trace.import",
       "mlp"},
      {"DELETE /api/v1/jobs/{name}/windows/{id}", "mlp", nullptr, 204, "window.delete", "mlp"},
      {"POST /api/v1/jobs/{name}/stop", "new", nullptr, 202, "job.stop", "new"},
      {"DELETE /api/v1/jobs/{name}", "new", nullptr, 204, "job.delete", "new"},
      {"POST /api/v1/webhooks",
       "",
       {{"url", "https://a.example.com/"}},
       201,
       "webhook.create",
       "1"},
      {"POST /api/v1/webhooks/{id}/test", "1", nullptr, 202, "webhook.test", "1"},
      {"POST /api/v1/deliveries/{id}/retry", "1", nullptr, 202, "delivery.retry", "1"},
      {"PATCH /api/v1/webhooks/{id}", "1", {{"enabled", false}}, 200, "webhook.change", "1"},
      {"DELETE /api/v1/webhooks/{id}", "1", nullptr, 204, "webhook.delete", "1"},
      {"DELETE /api/v1/tokens/{id}", token, nullptr, 204, "token.revoke", token.c_str()},
      {"DELETE /api/v1/nodes/{id}/binding", "train-7", nullptr, 204, "node.release", "train-7"},
      {"POST /api/v1/tokens", "", {{"name", "x"}, {"role", "agent"}}, 201, "token.create", nullptr},
  };
  std::set<std::string> calls = kNotWrittenDown;
  for (const Change& change : changes) {
    SCOPED_TRACE(change.call);
    if (std::string_view(change.action) == "delivery.retry") GiveUpTheMessage();
    const std::string answer = Make(change);
    ASSERT_EQ(StatusOf(answer), change.status) << answer;
    const Json row = Newest();
    EXPECT_EQ(row["request_id"], HeaderOf(answer, "x-request-id"));
    EXPECT_EQ(row["action"], change.action);
    EXPECT_EQ(row["target"],
              change.target ? change.target : ApiService::JsonOf(answer)["id"].get<std::string>());
    EXPECT_EQ(row["name"], "maria");
    EXPECT_EQ(row["token_id"], admin_.row.token_id);
    EXPECT_EQ(row["peer"], "127.0.0.1");
    calls.insert(change.call);
  }
  for (const Route& route : ApiRoutes(service_.api())) {
    if (route.method == "GET") continue;
    const std::string call = Format("{} {}", route.method, route.pattern);
    EXPECT_TRUE(calls.contains(call)) << call << " has no row above: is it written down?";
  }
}

TEST_F(AuditTest, WhatIsRefusedIsNotWrittenDown) {
  for (const Change& change :
       {Change{"POST /api/v1/jobs", "", {{"name", "mlp"}, {"group", "x"}}, 409, "", ""},
        Change{"DELETE /api/v1/tokens/{id}", "00000000", nullptr, 404, "", ""},
        Change{"DELETE /api/v1/nodes/{id}/binding", "nobody", nullptr, 404, "", ""},
        Change{"POST /api/v1/tokens", "", {{"name", "x"}}, 400, "", ""}}) {
    EXPECT_EQ(StatusOf(Make(change)), change.status) << change.call;
  }
  EXPECT_TRUE(Newest().is_null());
}

}  // namespace
}  // namespace stepscope
