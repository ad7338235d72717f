// Ingest, health, figures, the web UI, and what happens while PostgreSQL is away.

#include <fstream>
#include <set>
#include <string_view>

#include "core/model/metric.h"
#include "server/api/service/static_file_table.h"
#include "tests/server/api/api_test.h"
#include "tests/support/eventually.h"

namespace stepscope {
namespace {

class ServiceTest : public ApiTest {};

bool IsMethod(std::string_view word) {
  return word == "get" || word == "post" || word == "delete" || word == "put" || word == "patch";
}

// "GET /api/v1/jobs read" for each operation of openapi.yaml, by its indentation: two blanks before
// a path, four before a method, six before the right that it needs.
std::set<std::string> DocumentedCalls() {
  constexpr std::string_view kRight = "      x-stepscope-right: ";
  std::ifstream file(STEPSCOPE_SOURCE_DIR "/openapi.yaml");
  std::set<std::string> calls;
  std::string path, call;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(kRight) && calls.erase(call) > 0) {
      calls.insert(call + line.substr(kRight.size()));
    }
    if (!line.ends_with(':')) continue;
    const std::size_t indent = line.find_first_not_of(' ');
    std::string word = line.substr(indent, line.size() - indent - 1);
    if (indent == 2 && word.starts_with('/')) path = word;
    if (indent != 4 || !IsMethod(word)) continue;
    for (char& letter : word) letter = static_cast<char>(std::toupper(letter));
    call = word + " " + path + " ";
    calls.insert(call);
  }
  return calls;
}

TEST_F(ServiceTest, RoutesAndDocumentedCallsAreTheSameAndNeedTheSameRights) {
  std::set<std::string> routes;
  for (const Route& route : ApiRoutes(service_.api())) {
    routes.insert(std::string(route.method) + " " + std::string(route.pattern) + " " +
                  std::string(RowOf(route.right).word));
  }
  EXPECT_EQ(routes, DocumentedCalls());
}

TEST_F(ServiceTest, APushForAJobThatNobodyStartedSaysSo) {
  TestAgent agent("stranger");
  ExpectProblem(service_.Push(agent.Ticks({kStartUs}, {50.0})), 410, "unknown-job", "stranger");
}

TEST_F(ServiceTest, ARepeatedPushIsAcknowledgedAgain) {
  TestAgent agent("mlp");
  const std::string push = agent.Started(kStartUs);
  for (int count = 0; count < 2; ++count) {
    const Json answer = ApiService::JsonOf(service_.Push(push));
    EXPECT_EQ(answer["acknowledged"], 1);
    EXPECT_EQ(answer["expected"], 2);
  }
}

TEST_F(ServiceTest, AHoleIsRefusedWithTheNumberWanted) {
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  agent.Skip();
  const std::string answer = service_.Push(agent.Rank(kStartUs, 0));
  ExpectProblem(answer, 409, "gap");
  EXPECT_EQ(ApiService::JsonOf(answer)["expected"], 2);
}

TEST_F(ServiceTest, BadPushesAreRefusedAsAWhole) {
  ExpectProblem(service_.Push("nonsense"), 400, "bad-frame");
  ExpectProblem(service_.Push(""), 400, "bad-frame");
  ExpectProblem(service_.Ask("POST", "/api/v1/ingest/frames", "{}"), 415, "unsupported-media-type");
  std::string huge(kMaxPushBytes + 1, 'x');
  ExpectProblem(service_.Push(huge), 413, "too-large");
  EXPECT_EQ(service_.GetJson("/api/v1/jobs")["total"], 0);
}

TEST_F(ServiceTest, ReadinessNamesWhatItLookedAt) {
  const Json ready = service_.GetJson("/readyz");
  EXPECT_EQ(ready["status"], "ready") << ready;
  std::set<std::string> names;
  for (const Json& check : ready["checks"]) names.insert(check["name"]);
  EXPECT_EQ(names, (std::set<std::string>{"service", "database", "migrations", "disk"}));
}

TEST_F(ServiceTest, FiguresArePrometheusText) {
  TestAgent agent("mlp");
  Push(agent.Started(kStartUs));
  const std::string answer = service_.Get("/metrics");
  EXPECT_TRUE(HeaderOf(answer, "content-type").starts_with("text/plain; version=0.0.4"));
  EXPECT_NE(BodyOf(answer).find("\nstepscope_ingest_frames_total 1\n"), std::string::npos)
      << answer;
  EXPECT_NE(BodyOf(answer).find("\nstepscope_jobs_in_progress 1\n"), std::string::npos);
  for (const std::string name : {"duplicate_rows_total", "queue_bytes", "queue_seconds"}) {
    const auto is_zero = [&] {  // a push is answered before its memory is given back
      const std::string now = BodyOf(service_.Get("/metrics"));
      return now.find("\nstepscope_ingest_" + name + " 0\n") != std::string::npos;
    };
    EXPECT_TRUE(Eventually(is_zero)) << name;
  }
}

TEST_F(ServiceTest, LostConnectionsToTheDatabaseHealByThemselves) {
  Create("a");
  service_.database().EndSessions();
  int last = 0;
  for (int count = 0; count < 10 && last != 200; ++count) {
    const std::string answer = service_.Get("/api/v1/jobs");
    last = StatusOf(answer);
    if (last != 200) {
      ExpectProblem(answer, 503, "unavailable");
      EXPECT_NE(HeaderOf(answer, "retry-after"), "");
    }
  }
  EXPECT_EQ(last, 200);
}

TEST_F(ServiceTest, KnownPagesAreTheShellAndNothingElseIs) {
  EXPECT_EQ(StatusOf(service_.Get("/")), 200);
  EXPECT_EQ(StatusOf(service_.Get("/jobs/mlp?from=1")), 200);
  EXPECT_EQ(StatusOf(service_.Get("/tokens")), 200);
  EXPECT_NE(HeaderOf(service_.Get("/jobs"), "etag"), "");
  ExpectProblem(service_.Get("/nothing"), 404, "not-found");
  ExpectProblem(service_.Get("/assets/nothing.js"), 404, "not-found");
  ExpectProblem(service_.Get("/assets/../index.html"), 404, "not-found");
  ExpectProblem(service_.Get("/assets/%2e%2e/%2e%2e/etc/passwd"), 404, "not-found");
  ExpectProblem(service_.Get("/api/v1/nothing"), 404, "not-found");
}

TEST_F(ServiceTest, AnUnknownPageIsToldByTheShell) {
  RawClient client(service_.port());
  client.Send("GET /nothing HTTP/1.1\r\nHost: localhost\r\nAccept: text/html,*/*\r\n\r\n");
  const std::string answer = client.ReadAnswer();
  EXPECT_EQ(StatusOf(answer), 404);
  EXPECT_TRUE(HeaderOf(answer, "content-type").starts_with("text/html"));
}

TEST_F(ServiceTest, FilesComeInTheBestFormThatIsTaken) {
  for (const StaticFile& file : StaticFiles()) {
    RawClient client(service_.port());
    client.Send("GET " + std::string(file.path) +
                " HTTP/1.1\r\nHost: localhost\r\nAccept-Encoding: gzip, br;q=0\r\n\r\n");
    const std::string answer = client.ReadAnswer();
    EXPECT_EQ(StatusOf(answer), 200) << file.path;
    EXPECT_EQ(HeaderOf(answer, "content-encoding"), file.gzip.empty() ? "" : "gzip");
    EXPECT_EQ(BodyOf(answer), file.gzip.empty() ? file.plain : file.gzip);
    EXPECT_EQ(HeaderOf(answer, "vary"), "Accept-Encoding");
  }
}

TEST_F(ServiceTest, TheCatalogListsEveryParameter) {
  const Json items = service_.GetJson("/api/v1/rules")["items"];
  EXPECT_GE(items.size(), 4U);
  for (const Json& rule : items) {
    for (const char* text : {"sentence", "fires", "advice"}) {
      EXPECT_TRUE(rule[text].get<std::string>().ends_with('.')) << rule["name"] << " " << text;
    }
    for (const Json& parameter : rule["parameters"]) EXPECT_TRUE(parameter.contains("default"));
  }
}

TEST_F(ServiceTest, TheCatalogOfMetricsHasARowForEach) {
  const Json catalog = service_.GetJson("/api/v1/metrics-catalog");
  EXPECT_EQ(catalog["items"].size(), Metrics().size());
  EXPECT_EQ(catalog["items"][0]["metric"], "node_cpu_percent");
  ExpectProblem(service_.Get("/api/v1/metrics-catalog?a=1"), 400, "invalid-parameter", "a");
}

}  // namespace
}  // namespace stepscope
