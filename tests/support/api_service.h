#pragma once

#include <atomic>
#include <string>
#include <string_view>

#include "core/base/json.h"
#include "core/wire/frame.h"
#include "server/access/issue.h"
#include "server/api/http/routes.h"
#include "server/api/jobs/job_summary.h"
#include "server/api/rules/given_rules.h"
#include "server/edge/edge.h"
#include "server/front/front.h"
#include "server/report/fleet/fleet_table.h"
#include "tests/support/postgres.h"
#include "tests/support/raw_client.h"

namespace stepscope {

// The API with real PostgreSQL, real ingest and real HTTP on a free port; without evaluators and
// outbox.
class ApiService {
 public:
  // A client that sends this secret is taken for a proxy.
  static constexpr const char* kProxySecret = "0123456789abcdef";
  static constexpr std::int64_t kMostNewJobs = 12, kMostNewNodes = 12;
  static constexpr const char* kFramesHeader = "Content-Type: application/vnd.stepscope.frames\r\n";
  static constexpr const char* kJsonHeader = "Content-Type: application/json\r\n";

  explicit ApiService(bool demand_tokens = false) : access_(database_, clock_, demand_tokens) {
    server_.Listen({.host = "127.0.0.1"}).ok();
  }

  int port() const { return server_.port(); }
  TestDatabase& database() { return test_database_; }
  const Api& api() const { return api_; }

  // Issues a token as the command line would.
  IssuedToken Token(const TokenOrder& order) {
    Result<IssuedToken> issued =
        IssueToken(*test_database_.Connect(), order, "test", ToMicros(clock_.Now()));
    return issued ? *issued : IssuedToken();
  }
  std::string Token(Role role, std::vector<std::string> scopes = {}) {
    return Token({.name = "a " + std::string(ToText(role)), .role = role, .scopes = scopes}).text;
  }
  // Asks with a token; "" for none.
  std::string AskAs(const std::string& token, std::string_view method, const std::string& target,
                    const std::string& body = "", const std::string& headers = kJsonHeader) {
    return Ask(method, target, body,
               headers + (token.empty() ? "" : "Authorization: Bearer " + token + "\r\n"));
  }

  std::string Ask(std::string_view method, const std::string& target, const std::string& body = "",
                  const std::string& headers = kJsonHeader) {
    RawClient client(port());
    const std::string length = method == "POST" || !body.empty()
                                   ? "Content-Length: " + std::to_string(body.size()) + "\r\n"
                                   : "";
    client.Send(std::string(method) + " " + target + " HTTP/1.1\r\nHost: localhost\r\n" + length +
                headers + "\r\n" + body);
    return client.ReadAnswer();
  }
  std::string Get(const std::string& target) { return Ask("GET", target); }
  std::string Post(const std::string& target, const std::string& body) {
    return Ask("POST", target, body);
  }
  std::string Push(const std::string& body) { return PushAs("", body); }
  std::string PushAs(const std::string& token, const std::string& body) {
    return AskAs(token, "POST", "/api/v1/ingest/frames", body, kFramesHeader);
  }
  // The body of the answer; null when it is not JSON.
  Json GetJson(const std::string& target) { return JsonOf(Get(target)); }
  static Json JsonOf(const std::string& answer) {
    Result<Json> json =
        ParseJson(BodyOf(answer), {.bytes = 64'000'000, .depth = 64, .values = 10'000'000});
    return json ? *json : Json();
  }

 private:
  IngestOptions WithRules() {
    IngestOptions options;
    options.default_rules = DefaultRules();
    return options;
  }

  TestDatabase test_database_;
  SystemClock clock_;
  Database database_{test_database_.url(), 4};
  Ingest ingest_{database_, clock_, WithRules()};
  JobSummaries summaries_{clock_};
  FleetTable fleet_{clock_};
  Access access_;
  Senders senders_{database_, clock_, {.new_jobs = kMostNewJobs, .new_nodes = kMostNewNodes}};
  std::atomic<bool> stopping_{false};
  const Api api_{.database = database_,
                 .clock = clock_,
                 .ingest = ingest_,
                 .summaries = summaries_,
                 .fleet = fleet_,
                 .access = access_,
                 .senders = senders_,
                 .public_url = "http://localhost",
                 .version = "0.0.0",
                 .data_dir = "/",
                 .default_rules = DefaultRules(),
                 .seal = [](const std::string& secret) { return Result<std::string>(secret); },
                 .check_target =
                     [](const std::string& url) {
                       return url.starts_with("https://") ? Status() : Invalid("https is wanted");
                     },
                 .further_metrics = [] { return std::string(); },
                 .stopping = stopping_};
  Front front_{ApiRoutes(api_),
               AnswerStatic,
               {{"localhost"}, *ReadProxyTrust({"127.0.0.0/8"}, kProxySecret, "")},
               access_,
               clock_};
  Edge server_{{.workers = 4, .most_per_address = 0}, front_.Handlers()};
};

}  // namespace stepscope
