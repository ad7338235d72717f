// GET /jobs/{name}/rules/{rule}/transitions.

#include "core/base/text.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

constexpr char kPath[] = "/api/v1/jobs/mlp/rules/IdleGPU/transitions";

class RuleTransitionsTest : public ApiTest {
 protected:
  RuleTransitionsTest() { Create("mlp"); }

  void Fire(const std::string& rule) {
    const std::string of = " from rule_configs c where c.name = '" + rule +
                           "' and s.rule_config_id = c.rule_config_id";
    const auto connection = service_.database().Connect();
    ASSERT_TRUE(connection->Execute(
        "update rule_states s set status = 'IssuesFound', version = s.version + 1" + of));
    const auto noted = connection->Execute(
        "insert into status_transitions (job_id, rule_config_id, version, status, at_us, detail) "
        "select s.job_id, s.rule_config_id, s.version, s.status, 1795205614000000, 'GPU 0 idles' "
        "from rule_states s join rule_configs c using (job_id, rule_config_id) where c.name = '" +
        rule + "'");
    ASSERT_TRUE(noted.ok()) << noted.error().message;
  }
  void Change(int threshold) {
    const std::string answer = service_.Ask(
        "PATCH", "/api/v1/jobs/mlp",
        Dump(Json{
            {"configuration",
             {{"rules", {{{"rule", "IdleGPU"}, {"parameters", {{"threshold", threshold}}}}}}}}}));
    ASSERT_EQ(StatusOf(answer), 200) << answer;
  }
};

TEST_F(RuleTransitionsTest, ThatARuleHadFoundIssuesBeforeItsParametersChangedStandsThere) {
  EXPECT_EQ(service_.GetJson(kPath),
            Json({{"items", Json::array()}, {"next", nullptr}, {"total", 0}}));
  Fire("CPUBottleneck");
  Fire("IdleGPU");
  Change(2);
  const Json page = service_.GetJson(kPath);
  ASSERT_EQ(page["items"].size(), 2u) << page;
  EXPECT_EQ(page["items"][0], Json({{"version", 1},
                                    {"status", "IssuesFound"},
                                    {"start_time", "2026-11-20T20:13:34.000000Z"},
                                    {"start_time_us", 1'795'205'614'000'000},
                                    {"message", "GPU 0 idles"}}));
  EXPECT_EQ(page["items"][1]["status"], "InProgress");
  EXPECT_EQ(page["items"][1]["message"], "its parameters changed: judged anew from what is stored");
}

TEST_F(RuleTransitionsTest, TheNewestComeLastPageByPage) {
  for (const int threshold : {2, 3, 4}) {
    Fire("IdleGPU");
    Change(threshold);
  }
  std::vector<int> versions;
  std::string next;
  do {
    const Json page = service_.GetJson(kPath + std::string("?limit=4") + next);
    EXPECT_EQ(page["total"], 6);
    for (const Json& item : page["items"]) versions.push_back(item["version"]);
    next = page["next"].is_null() ? "" : "&cursor=" + page["next"].get<std::string>();
  } while (!next.empty());
  EXPECT_EQ(versions, (std::vector<int>{1, 2, 3, 4, 5, 6}));
}

TEST_F(RuleTransitionsTest, WhatIsNotThereOrWrongIsRefused) {
  ExpectProblem(service_.Get("/api/v1/jobs/mlp/rules/Nope/transitions"), 404, "not-found",
                "the job has no rule 'Nope'");
  ExpectProblem(service_.Get("/api/v1/jobs/nobody/rules/IdleGPU/transitions"), 404, "not-found");
  const std::string longest = "/api/v1/jobs/mlp/rules/" + std::string(64, 'a') + "/transitions";
  ExpectProblem(service_.Get(longest), 400, "bad-request", "must have 1 to 63 bytes");
  ExpectProblem(service_.Get(kPath + std::string("?rank=0")), 400, "invalid-parameter");
  const std::string other = ToBase64Url(R"(["x"])");
  ExpectProblem(service_.Get(kPath + ("?cursor=" + other)), 400, "invalid-parameter", "cursor");
}

}  // namespace
}  // namespace stepscope
