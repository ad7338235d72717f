// POST /jobs/{name}/rules/preview.

#include <future>
#include <thread>

#include "core/base/text.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

// Rank 0 had 20 s of steps, in which it waited for data for 30 % of the time.
class RulePreviewTest : public ApiTest {
 protected:
  RulePreviewTest() {
    TestAgent agent("mlp", "train-7");
    Push(agent.Started(kStartUs));
    Push(agent.Steps(0, kStartUs, std::vector<std::int64_t>(100, 200), 0.3));
  }

  std::string Preview(const std::string& body, const std::string& job = "mlp") {
    return service_.Post("/api/v1/jobs/" + job + "/rules/preview", body);
  }
  std::int64_t Int(const std::string& sql) {
    return service_.database().Connect()->Query(sql)->Int(0, 0);
  }
};

TEST_F(RulePreviewTest, SaysWhatItWouldSayAndWhatItSays) {
  const Json would = ApiService::JsonOf(
      Preview(R"({"name":"DataloaderBottleneck","parameters":{"threshold":25}})"));
  EXPECT_EQ(would["rule_evaluation_status"], "IssuesFound") << would;
  EXPECT_EQ(would["parameters"], Json({{"threshold", 25}, {"moderate", 5}, {"min_steps", 20}}));
  EXPECT_EQ(would["now"]["parameters"]["threshold"], 20);
  EXPECT_EQ(would["now"]["rule_evaluation_status"], "InProgress");
  EXPECT_EQ(would["difference"], "it would have fired; with its parameters of now it did not");
  EXPECT_EQ(would["judged"]["complete"], true);
  EXPECT_EQ(would["judged"]["rows"], 100);
  EXPECT_EQ(would["findings_total"], would["findings"].size());
  EXPECT_GT(would["findings"].size(), 0u);
  const Json clear = ApiService::JsonOf(
      Preview(R"({"name":"DataloaderBottleneck","parameters":{"threshold":40,"moderate":35}})"));
  EXPECT_EQ(clear["verdict"]["kind"], "clear") << clear;
  EXPECT_EQ(clear["difference"], "it would not have fired either");
  const Json other =
      ApiService::JsonOf(Preview(R"({"name":"mine","rule":"DataloaderBottleneck"})"));
  EXPECT_EQ(other["now"], nullptr);
  EXPECT_EQ(other["difference"], "it would have fired");
}

TEST_F(RulePreviewTest, OfARuleThatFiredItSaysHowManyFindingsThereWouldBe) {
  const auto connection = service_.database().Connect();
  ASSERT_TRUE(connection->Execute("update rule_states set status = 'IssuesFound'"));
  const auto preview = [&] {
    return ApiService::JsonOf(Preview(R"({"name":"DataloaderBottleneck"})"));
  };
  ASSERT_EQ(preview()["findings_total"], 1);
  EXPECT_EQ(preview()["difference"], "it would have fired too, with 1 finding instead of 0");
  ASSERT_TRUE(connection->Execute(
      "insert into findings (job_id, rule_config_id, finding, from_us, to_us, sentence) select "
      "job_id, rule_config_id, 1, 1, 2, 'old' from rule_configs"));
  EXPECT_EQ(preview()["difference"], "it would have fired too, with as many findings");
}

TEST_F(RulePreviewTest, OfTheReportItSumsUpTheRulesWhoseParametersItIsGiven) {
  const auto fired = [&](const char* parameters) {
    const Json would = ApiService::JsonOf(
        Preview(Format(R"({{"name":"ProfilerReport","parameters":{}}})", parameters)));
    EXPECT_EQ(would["parameters"], Json({{"threshold", 10}, {"price_per_gpu_hour", 0}})) << would;
    EXPECT_EQ(would["judged"]["complete"], true);
    return would["evidence"]["rules_fired"];
  };
  EXPECT_EQ(fired("{}"), Json::array());
  EXPECT_EQ(fired(R"({"DataloaderBottleneck_threshold":25})"), Json({"DataloaderBottleneck"}));
  EXPECT_EQ(fired(R"({"DataloaderBottleneck_threshold":40,"DataloaderBottleneck_moderate":35})"),
            Json::array());
  EXPECT_EQ(Int("select count(*) from rule_states where revision > 0"), 0);
  ExpectProblem(
      Preview(R"({"name":"ProfilerReport","parameters":{"DataloaderBottleneck_threshold":101}})"),
      400, "invalid-body", "DataloaderBottleneck: threshold is 101, but must be");
  ASSERT_TRUE(service_.database().Connect()->Execute(
      "delete from rule_configs where name = 'DataloaderBottleneck'"));
  ExpectProblem(
      Preview(R"({"name":"ProfilerReport","parameters":{"DataloaderBottleneck_threshold":25}})"),
      400, "invalid-body", "the job has no rule 'DataloaderBottleneck'; choose the rule itself");
}

TEST_F(RulePreviewTest, StoresNothingAndRefusesWhatIsWrong) {
  ExpectProblem(Preview(R"({"rule":"Nope"})"), 400, "invalid-body", "there is no rule 'Nope'");
  ExpectProblem(Preview(R"({"rule":"IdleGPU","parameters":{"minutes":0}})"), 400, "invalid-body",
                "minutes is 0, but must be a number from 1 to 10000 minutes");
  ExpectProblem(Preview(R"({"rule":"IdleGPU","remove":true})"), 400, "invalid-body", "remove");
  ExpectProblem(Preview(R"({})"), 400, "invalid-body");
  ExpectProblem(Preview(R"({"rule":"IdleGPU"})", "nobody"), 404, "not-found");
  EXPECT_EQ(StatusOf(Preview(R"({"rule":"IdleGPU","name":"x"})")), 200);
  EXPECT_EQ(Int("select count(*) from rule_configs where name = 'x'"), 0);
  EXPECT_EQ(Int("select count(*) from rule_states where revision > 0"), 0);
  EXPECT_EQ(Int("select count(*) from findings"), 0);
}

// Four previews wait for the job's lock; the fifth is answered before them.
TEST_F(RulePreviewTest, OfManyAtOnceSomeAreToldToComeBack) {
  const std::vector<Route> routes = RulePreviewRoutes(service_.api());
  Request request;
  request.body = R"({"name":"DataloaderBottleneck"})";
  const auto connection = service_.database().Connect();
  auto closed = Transaction::Begin(*connection);
  ASSERT_TRUE(connection->Execute("lock table jobs in access exclusive mode"));
  std::vector<Reply> replies(5);
  std::promise<std::size_t> first;
  std::once_flag once;
  std::vector<std::jthread> callers;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    callers.emplace_back([&, i] {
      replies[i] = routes[0].handler(request, {{"name", "mlp"}});
      std::call_once(once, [&] { first.set_value(i); });
    });
  }
  const std::size_t refused = first.get_future().get();
  ASSERT_TRUE(closed->Commit());
  callers.clear();
  EXPECT_NE(replies[refused].body.find("4 previews of rules are under way"), std::string::npos);
  for (std::size_t i = 0; i < replies.size(); ++i) {
    EXPECT_EQ(replies[i].status, i == refused ? 429 : 200) << replies[i].body;
  }
}

}  // namespace
}  // namespace stepscope
