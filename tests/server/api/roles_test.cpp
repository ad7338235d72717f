// Every route against every kind of caller, over HTTP.

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

// The callers, in the order of the columns below. Tokens "of mlp" have the scope "mlp*", "of
// others" the scope "other-*".
constexpr std::string_view kComers[] = {"nobody",
                                        "agent of mlp",
                                        "agent of others",
                                        "reader of mlp",
                                        "reader of others",
                                        "operator of mlp",
                                        "operator of others",
                                        "operator of all jobs",
                                        "admin",
                                        "expired admin",
                                        "revoked admin",
                                        "browser of the reader of mlp"};
// One letter for each caller, in their order. y: let through; f: 403 forbidden; u: 401
// unauthorized; b: 415, no browser sends this.
struct Wanted {
  int status;
  std::string_view code;
};
const std::map<char, Wanted> kRefusals = {{'u', {401, "unauthorized"}},
                                          {'f', {403, "forbidden"}},
                                          {'b', {415, "unsupported-media-type"}}};
struct Row {
  std::string_view call;
  std::string_view answers;
  int passed;  // the status for callers that are let through
};
constexpr Row kRows[] = {
    {"GET /api/v1/jobs", "uffyyyyyyuuy", 200},
    {"POST /api/v1/jobs", "uyfffyfyyuuf", 201},
    {"GET /api/v1/jobs/{name}", "uffyfyfyyuuy", 200},
    {"PATCH /api/v1/jobs/{name}", "uffffyfyyuuf", 200},
    {"DELETE /api/v1/jobs/{name}", "uffffyfyyuuf", 204},
    {"GET /api/v1/removals", "uffyyyyyyuuy", 200},
    {"POST /api/v1/jobs/{name}/stop", "uffffyfyyuuf", 202},
    {"GET /api/v1/jobs/{name}/metrics", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/percentiles", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/usage", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/heatmap", "uffyfyfyyuuy", 200},
    {"POST /api/v1/jobs/{name}/samples", "uyfffyfyyuuf", 200},
    {"GET /api/v1/jobs/{name}/steps", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/windows", "uffyfyfyyuuy", 200},
    {"POST /api/v1/jobs/{name}/windows", "uffffyfyyuuf", 409},
    {"GET /api/v1/jobs/{name}/windows/{id}", "uffyfyfyyuuy", 404},
    {"DELETE /api/v1/jobs/{name}/windows/{id}", "uffffyfyyuuf", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/spans", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/breakdown", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/kernels", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/operators", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/launches", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/copies", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/communication", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/memory", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/precision", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/calls", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/what-if", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/compare", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/ranks", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/timeline/pixels", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/search", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/trace.json.gz", "uffyfyfyyuuy", 404},
    {"GET /api/v1/jobs/{name}/windows/{id}/timeline", "uffyfyfyyuuy", 404},
    {"POST /api/v1/jobs/{name}/traces", "uyfffyfyyuuf", 400},
    {"GET /api/v1/jobs/{name}/rules", "uffyfyfyyuuy", 200},
    {"POST /api/v1/jobs/{name}/rules/preview", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/rules/{rule}/transitions", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/status", "uyfyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/events", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/diagnosis", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/report", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/report.html", "uffyfyfyyuuy", 200},
    {"GET /api/v1/jobs/{name}/card", "uffyfyfyyuuy", 200},
    {"GET /api/v1/compare", "uffyyyyyyuuy", 400},
    {"GET /api/v1/fleet", "uffyyyyyyuuy", 200},
    {"GET /api/v1/metrics-catalog", "uffyyyyyyuuy", 200},
    {"GET /api/v1/jobs/{name}/findings", "uffyfyfyyuuy", 200},
    {"GET /api/v1/rules", "uffyyyyyyuuy", 200},
    {"GET /api/v1/webhooks", "uffffffyyuuf", 200},
    {"POST /api/v1/webhooks", "uffffffyyuuf", 201},
    {"GET /api/v1/webhooks/{id}", "uffffffyyuuf", 404},
    {"PATCH /api/v1/webhooks/{id}", "uffffffyyuuf", 404},
    {"DELETE /api/v1/webhooks/{id}", "uffffffyyuuf", 404},
    {"POST /api/v1/webhooks/{id}/test", "uffffffyyuuf", 404},
    {"GET /api/v1/deliveries", "uffffffyyuuf", 200},
    {"POST /api/v1/deliveries/{id}/retry", "uffffffyyuuf", 404},
    {"GET /api/v1/tokens", "ufffffffyuuf", 200},
    {"POST /api/v1/tokens", "ufffffffyuuf", 201},
    {"DELETE /api/v1/tokens/{id}", "ufffffffyuuf", 404},
    {"GET /api/v1/session", "uyyyyyyyyuuy", 200},
    {"POST /api/v1/session", "yyyyyyyyyyyy", 200},
    {"DELETE /api/v1/session", "yyyyyyyyyyyy", 204},
    {"GET /api/v1/audit", "ufffffffyuuf", 200},
    {"DELETE /api/v1/nodes/{id}/binding", "ufffffffyuuf", 404},
    {"POST /api/v1/ingest/frames", "uyfffyfyyuub", 200},
    {"GET /healthz", "yyyyyyyyyyyy", 200},
    {"GET /readyz", "yyyyyyyyyyyy", 200},
    {"GET /metrics", "uffyyyyyyuuy", 200},
    {"POST /api/v1/batch", "uyyyyyyyyuuy", 200},
};

class RolesTest : public ApiTest {
 protected:
  RolesTest() : ApiTest(true) {
    const std::vector<std::string> mlp = {"mlp*"}, others = {"other-*"};
    headers_ = {"",
                Bearer(service_.Token(Role::kAgent, mlp)),
                Bearer(service_.Token(Role::kAgent, others)),
                Bearer(service_.Token(Role::kReader, mlp)),
                Bearer(service_.Token(Role::kReader, others)),
                Bearer(service_.Token(Role::kOperator, mlp)),
                Bearer(service_.Token(Role::kOperator, others)),
                Bearer(service_.Token(Role::kOperator)),
                Bearer(admin_),
                Bearer(Spoiled("expires_us = 1")),
                Bearer(Spoiled("revoked_us = 1")),
                Cookie(service_.Token(Role::kReader, mlp))};
  }

  // Creates it again each time: one of the calls deletes it, another one ends it.
  void MakeJob() {
    const std::string body = Dump(Json{{"name", "mlp"}});
    EXPECT_EQ(StatusOf(service_.AskAs(admin_, "POST", "/api/v1/jobs", body)), 201);
    const Json job = ApiService::JsonOf(service_.AskAs(admin_, "GET", "/api/v1/jobs/mlp"));
    if (job.value("status", "") != "Stopped") return;
    EXPECT_EQ(StatusOf(service_.AskAs(admin_, "DELETE", "/api/v1/jobs/mlp")), 204);
    EXPECT_EQ(StatusOf(service_.AskAs(admin_, "POST", "/api/v1/jobs", body)), 201);
  }

  static std::string Bearer(const std::string& token) {
    return "Authorization: Bearer " + token + "\r\n";
  }
  // A token that is not valid any more, by a change of its row.
  std::string Spoiled(const std::string& change) {
    const IssuedToken token = service_.Token({.name = "gone", .role = Role::kAdmin});
    const auto done = service_.database().Connect()->Query(
        "update tokens set " + change + " where token_id = $1", {token.row.token_id});
    EXPECT_TRUE(done.ok());
    return token.text;
  }
  std::string Cookie(const std::string& token) {
    const std::string answer =
        service_.Ask("POST", "/api/v1/session", Dump(Json{{"token", token}}));
    const std::string set = HeaderOf(answer, "set-cookie");
    return "Cookie: " + set.substr(0, set.find(';')) + "\r\nSec-Fetch-Site: same-origin\r\n";
  }
  // Sends through a proxy, each time from another address: bad tokens are counted by address, and
  // callers on this machine may see more.
  std::string FromElsewhere() {
    const int number = ++addresses_;
    return Format("X-Stepscope-Proxy-Secret: {}\r\nX-Forwarded-For: 198.51.{}.{}\r\n",
                  ApiService::kProxySecret, number / 250, number % 250 + 1);
  }
  static std::string TargetOf(std::string pattern) {
    const std::map<std::string, std::string> values = {
        {"{name}", "mlp"}, {"{rule}", "IdleGPU"}, {"{id}", "999999"}};
    for (const auto& [name, value] : values) {
      const std::size_t at = pattern.find(name);
      if (at != std::string::npos) pattern.replace(at, name.size(), value);
    }
    if (pattern.ends_with("/heatmap")) pattern += "?metric=node_cpu_percent";
    return pattern;
  }
  // A valid body, another one each time where that is needed.
  std::string BodyFor(std::string_view call) {
    const std::string fresh = std::to_string(addresses_);
    if (call == "POST /api/v1/jobs") return Dump(Json{{"name", "mlp"}});
    if (call == "PATCH /api/v1/jobs/{name}")
      return Dump(Json{{"configuration", {{"interval_ms", 500}}}});
    if (call == "POST /api/v1/jobs/{name}/windows") return Dump(Json{{"start_step", 1000}});
    if (call == "PATCH /api/v1/webhooks/{id}") return Dump(Json{{"enabled", true}});
    if (call.ends_with("/batch")) return Dump(Json{{"get", {"/session"}}});
    if (call.ends_with("/preview")) return Dump(Json{{"rule", "IdleGPU"}});
    if (call == "POST /api/v1/webhooks") {
      return Dump(Json{{"url", "https://a.example.com/" + fresh}});
    }
    if (call == "POST /api/v1/tokens") return Dump(Json{{"name", "x"}, {"role", "reader"}});
    if (call == "POST /api/v1/session") return Dump(Json{{"token", admin_}});
    if (call.ends_with("/samples")) {
      return Format(
          R"({{"node":"{}","times_us":[{}],"series":[{{"metric":"user.a","values":[1]}}]}})", fresh,
          kStartUs);
    }
    if (call.ends_with("/traces")) return "no trace";
    if (call == "POST /api/v1/ingest/frames") return TestAgent("mlp", fresh).Started(kStartUs);
    return "";
  }
  std::string Call(std::string_view call, const std::string& headers) {
    const std::size_t space = call.find(' ');
    const std::string body = BodyFor(call);
    const std::string type = call.ends_with("/frames") ? ApiService::kFramesHeader
                             : call.ends_with("/traces")
                                 ? "Content-Type: application/octet-stream\r\n"
                                 : ApiService::kJsonHeader;
    return service_.Ask(call.substr(0, space), TargetOf(std::string(call.substr(space + 1))), body,
                        type + headers);
  }
  std::vector<std::string> Calls() {
    std::vector<std::string> calls;
    for (const Route& route : ApiRoutes(service_.api())) {
      calls.push_back(Format("{} {}", route.method, route.pattern));
    }
    return calls;
  }

  const std::string admin_ = service_.Token(Role::kAdmin);
  std::vector<std::string> headers_;  // by caller
  int addresses_ = 0;
};

const Row* RowOfCall(std::string_view call) {
  const auto* found = std::ranges::find(kRows, call, &Row::call);
  return found == std::end(kRows) ? nullptr : found;
}

TEST_F(RolesTest, EveryoneGetsFromEveryRouteWhatTheTableSays) {
  const std::vector<std::string> calls = Calls();
  EXPECT_EQ(calls.size(), std::size(kRows));
  for (const std::string& call : calls) {
    const Row* row = RowOfCall(call);
    ASSERT_NE(row, nullptr) << call << " has no row: say who may call it";
    ASSERT_EQ(row->answers.size(), std::size(kComers)) << call;
    for (std::size_t at = 0; at < std::size(kComers); ++at) {
      MakeJob();
      const std::string answer = Call(call, FromElsewhere() + headers_[at]);
      const char wanted = row->answers[at];
      if (wanted == 'y') {
        EXPECT_EQ(StatusOf(answer), row->passed) << call << ", " << kComers[at] << ": " << answer;
        continue;
      }
      SCOPED_TRACE(Format("{}, {}", call, kComers[at]));
      ExpectProblem(answer, kRefusals.at(wanted).status, std::string(kRefusals.at(wanted).code));
    }
    if (call == "DELETE /api/v1/session")
      headers_.back() = Cookie(service_.Token(Role::kReader, {"mlp*"}));
  }
}

TEST_F(RolesTest, HeadIsRefusedToThoseWhoMayNotGet) {
  for (const std::string& call : Calls()) {
    if (!call.starts_with("GET ")) continue;
    RawClient client(service_.port());
    client.Send(Format("HEAD {} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n{}\r\n",
                       TargetOf(call.substr(4)), FromElsewhere()));
    const bool open = RowOfCall(call)->answers[0] == 'y';
    EXPECT_EQ(StatusOf(client.ReadToEnd()), open ? 200 : 401) << call;
  }
}

TEST_F(RolesTest, NoRouteAnswersToAForeignHost) {
  for (const std::string& call : Calls()) {
    const std::size_t space = call.find(' ');
    for (const char* host :
         {"evil.example.com", "localhost.evil.example.com", "127.0.0.1.nip.io"}) {
      RawClient client(service_.port());
      client.Send(Format("{} {} HTTP/1.1\r\nHost: {}\r\n{}Connection: close\r\n\r\n",
                         call.substr(0, space), TargetOf(call.substr(space + 1)), host,
                         Bearer(admin_)));
      EXPECT_EQ(StatusOf(client.ReadToEnd()), 421) << call << " at " << host;
    }
  }
}

// A browser sends the cookie of an admin along with what a foreign page makes it send.
TEST_F(RolesTest, AForeignPageChangesNothingWithTheCookieOfAnAdmin) {
  std::string cookie = Cookie(admin_);
  cookie.resize(cookie.find("Sec-Fetch-Site"));
  const auto changes = [this] {
    return ApiService::JsonOf(service_.AskAs(admin_, "GET", "/api/v1/audit"))["total"];
  };
  const Json before = changes();
  for (const std::string& call : Calls()) {
    if (call.starts_with("GET ")) continue;
    for (const char* from :
         {"Origin: https://evil.example.com\r\n", "Origin: null\r\n",
          "Origin: http://localhost:1\r\n", "Sec-Fetch-Site: cross-site\r\n",
          "Sec-Fetch-Site: same-site\r\n",
          "Origin: https://evil.example.com\r\nSec-Fetch-Site: same-origin\r\n", ""}) {
      ExpectProblem(Call(call, cookie + from), 403, "foreign-origin");
    }
  }
  EXPECT_EQ(changes(), before);
  const std::string own = cookie + "Origin: http://localhost\r\n";
  EXPECT_EQ(StatusOf(Call("POST /api/v1/webhooks", own)), 201);
  MakeJob();
  EXPECT_EQ(StatusOf(Call("POST /api/v1/jobs/{name}/traces", own)), 400) << "it is no trace";
}

TEST_F(RolesTest, AFormChangesNothingEvenFromAPageOfOurs) {
  const std::string cookie = Cookie(admin_);
  for (const std::string& call : Calls()) {
    if (!call.starts_with("POST ")) continue;
    for (const char* type : {"text/plain", "application/x-www-form-urlencoded"}) {
      const std::string answer = service_.Ask("POST", TargetOf(call.substr(5)), BodyFor(call),
                                              Format("Content-Type: {}\r\n{}", type, cookie));
      ExpectProblem(answer, 415, "unsupported-media-type");
    }
  }
}

}  // namespace
}  // namespace stepscope
