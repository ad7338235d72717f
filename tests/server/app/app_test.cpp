// The whole service on a real PostgreSQL: starts, serves, stops, starts again.

#include "server/app/app.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <thread>

#include "tests/support/postgres.h"
#include "tests/support/pushes.h"
#include "tests/support/raw_client.h"
#include "tests/support/temp_folder.h"

namespace stepscope {
namespace {

class AppTest : public testing::Test {
 protected:
  AppTest() {
    settings_.listen = {{.host = "127.0.0.1"}};
    settings_.data_dir = folder_.path() + "/data";
    settings_.database_url = database_.url();
    settings_.evaluators = 1;
  }

  std::unique_ptr<App> Start() {
    Result<std::unique_ptr<App>> app = App::Start(settings_, clock_, "0.0.0");
    EXPECT_TRUE(app.ok()) << app.error().message;
    return std::move(*app);
  }
  static std::string Ask(const App& app, const std::string& request) {
    RawClient client(app.port());
    client.Send(request);
    return client.ReadAnswer();
  }
  static std::string Get(const App& app, const std::string& target) {
    return Ask(app, "GET " + target + " HTTP/1.1\r\nHost: localhost\r\n\r\n");
  }
  static std::string Push(const App& app, const std::string& push) {
    return Ask(app, "POST /api/v1/ingest/frames HTTP/1.1\r\nHost: localhost\r\nContent-Type: " +
                        std::string(kFramesContentType) +
                        "\r\nContent-Length: " + std::to_string(push.size()) + "\r\n\r\n" + push);
  }

  TestDatabase database_;
  SystemClock clock_;
  const TempFolder folder_;
  Settings settings_;
};

TEST_F(AppTest, JobsThatNameNoRulesHaveThoseOfItsFile) {
  settings_.rules = folder_.path() + "/rules.json";
  const auto write = [&](const std::string& json) { std::ofstream(settings_.rules) << json; };
  write(R"([{"name":"IdleGPU","parameters":{"threshold":2}},{"name":"GrowingUpload","remove":true},
            {"name":"HotGpu","rule":"Custom",
             "parameters":{"metric":"gpu_temperature_celsius","threshold":83}}])");
  {
    const std::unique_ptr<App> app = Start();
    EXPECT_EQ(StatusOf(Push(*app, TestAgent("mlp").Started(1'795'205'614'000'000))), 200);
    const std::string rules = Get(*app, "/api/v1/jobs/mlp/rules");
    EXPECT_NE(rules.find(R"("parameters":{"minutes":10,"threshold":2})"), std::string::npos);
    EXPECT_NE(rules.find(R"("rule_configuration_name":"HotGpu","rule":"Custom")"),
              std::string::npos);
    EXPECT_EQ(rules.find("GrowingUpload"), std::string::npos);
  }
  const std::pair<const char*, const char*> wrong[] = {
      {"", "the file is empty"},
      {" \n", "the file is empty"},
      {"not json", "JSON: a syntax error at byte 2"},
      {"[]}, {", "JSON: a syntax error at byte 3"},
      {"{}", "a list is wanted"},
      {"[{\"rule\":\"Nope\"}]", "/0/rule: there is no rule 'Nope'"},
      {"[{\"rule\":7}]", "/0/rule: text is wanted"}};
  for (const auto& [json, words] : wrong) {
    write(json);
    const auto refused = App::Start(settings_, clock_, "0.0.0");
    ASSERT_FALSE(refused.ok()) << json;
    const std::string& message = refused.error().message;
    EXPECT_TRUE(message.starts_with("--rules " + settings_.rules + ": " + words)) << message;
  }
}

TEST_F(AppTest, ServesWhenItHasStartedAndKeepsWhatItWasTold) {
  TestAgent agent("mlp");
  {
    const std::unique_ptr<App> app = Start();
    EXPECT_EQ(StatusOf(Get(*app, "/readyz")), 200);
    EXPECT_EQ(StatusOf(Push(*app, agent.Started(1'795'205'614'000'000))), 200);
  }
  const std::unique_ptr<App> again = Start();
  EXPECT_EQ(StatusOf(Get(*again, "/api/v1/jobs/mlp")), 200);
}

TEST_F(AppTest, StopsWhileClientsAreSlowAndIdle) {
  const std::unique_ptr<App> app = Start();
  RawClient idle(app->port()), slow(app->port());
  idle.Send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(StatusOf(idle.ReadAnswer()), 200);
  slow.Send("POST /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n");
  std::stop_source hurry;
  hurry.request_stop();
  app->Stop(hurry.get_token());
  EXPECT_TRUE(idle.IsClosed());
}

TEST_F(AppTest, MetricsShowWhatTheServiceMayRunShortOf) {
  const std::unique_ptr<App> app = Start();
  RawClient idle(app->port());
  idle.Send("GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(StatusOf(idle.ReadAnswer()), 200);
  const std::string metrics = Get(*app, "/metrics");
  for (const std::string line :
       {"stepscope_pressure 0", "stepscope_pressure_load{of=\"queue\"} 0",
        "stepscope_pressure_load{of=\"bodies\"} ", "stepscope_pressure_commit_p95_seconds 0",
        "stepscope_pressure_refused_total{traffic=\"frames\"} 0",
        "stepscope_pressure_refused_total{traffic=\"changes\"} 0",
        "stepscope_http_connections{state=\"idle\"} 1",
        "stepscope_http_connections{state=\"answering\"} 1", "stepscope_http_accepted_total 2",
        "stepscope_http_queue_length 0", "stepscope_http_body_bytes "}) {
    EXPECT_NE(metrics.find("\n" + line), std::string::npos) << line << " is not in\n" << metrics;
  }
}

TEST_F(AppTest, MetricsShowWhatCompactorAndRetentionDo) {
  const std::unique_ptr<App> app = Start();
  const std::string metrics = Get(*app, "/metrics");
  for (const std::string line :
       {"stepscope_compact_waiting_frames 0", "stepscope_compact_overdue_seconds 0",
        "stepscope_retention_jobs_total 0", "stepscope_retention_rows_total 0",
        "stepscope_retention_bytes_total 0"}) {
    EXPECT_NE(metrics.find("\n" + line + "\n"), std::string::npos) << line << " is not in\n"
                                                                   << metrics;
  }
  EXPECT_EQ(metrics.find("stepscope_retention_stored_bytes"), std::string::npos) << "no limit";
}

TEST_F(AppTest, AnOccupiedPortIsOneClearSentence) {
  const std::unique_ptr<App> app = Start();
  settings_.listen[0].port = app->port();
  const Result<std::unique_ptr<App>> second = App::Start(settings_, clock_, "0.0.0");
  ASSERT_FALSE(second.ok());
  EXPECT_EQ(second.error().message,
            "127.0.0.1:" + std::to_string(app->port()) +
                " is in use by another program; stop it or choose another with --listen");
}

TEST_F(AppTest, AMissingDatabaseIsSaidWithoutItsPassword) {
  settings_.database_url = "postgresql://someone:hunter2@127.0.0.1:1/nothing";
  settings_.database_wait = 0s;
  const Result<std::unique_ptr<App>> app = App::Start(settings_, clock_, "0.0.0");
  ASSERT_FALSE(app.ok());
  EXPECT_EQ(app.error().message.find("hunter2"), std::string::npos) << app.error().message;
  EXPECT_EQ(app.error().message.find('\n'), std::string::npos) << app.error().message;
}

TEST_F(AppTest, AFolderThatCannotBeMadeIsNamed) {
  settings_.data_dir = "/proc/nothing/here";
  const Result<std::unique_ptr<App>> app = App::Start(settings_, clock_, "0.0.0");
  ASSERT_FALSE(app.ok());
  EXPECT_NE(app.error().message.find("/proc/nothing/here"), std::string::npos);
}

TEST_F(AppTest, AWrongAddressRangeIsNamed) {
  settings_.webhook_allow = {"10.0.0.0/33"};
  const Result<std::unique_ptr<App>> app = App::Start(settings_, clock_, "0.0.0");
  ASSERT_FALSE(app.ok());
  EXPECT_NE(app.error().message.find("--webhook-allow"), std::string::npos);
}

TEST_F(AppTest, LostSessionsWithTheDatabaseHealByThemselves) {
  const std::unique_ptr<App> app = Start();
  TestAgent agent("mlp");
  database_.EndSessions();
  const std::string push = agent.Started(1'795'205'614'000'000);
  int status = 0;
  for (int count = 0; count < 20 && status != 200; ++count) {
    status = StatusOf(Push(*app, push));
    EXPECT_TRUE(status == 200 || status == 503) << status;
  }
  EXPECT_EQ(status, 200);
}

}  // namespace
}  // namespace stepscope
