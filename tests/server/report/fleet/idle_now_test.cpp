// GPUs that running jobs hold and do not use.

#include "server/report/fleet/idle_now.h"

#include "core/base/text.h"
#include "server/store/fleet/idle_verdicts.h"
#include "tests/server/report/page/report_fixture.h"

namespace stepscope::scenarios {
namespace {

class IdleNowTest : public ReportTest {
 protected:
  // A running job of eight GPUs, and what the rule IdleGPU says of it; "" = it had no turn yet.
  void Store(std::int64_t job_id, const std::string& verdict, bool ended = false) {
    Run("insert into jobs (job_id, name, created_us) overriding system value values ($1, $2, 0)",
        {job_id, Format("job-{}", job_id)});
    Run("insert into rule_configs (job_id, name, rule, parameters) values ($1, 'IdleGPU', "
        "'IdleGPU', '{}')",
        {job_id});
    Run("insert into rule_states (job_id, rule_config_id, verdict, evaluated_us, changed_us) "
        "select job_id, rule_config_id, coalesce(nullif($2, ''), '{}')::jsonb, "
        "case when $2 <> '' then 5 end, 0 from rule_configs where job_id = $1",
        {job_id, verdict});
    JobHours hours;
    hours.job_id = job_id;
    hours.name = Format("job-{}", job_id);
    hours.user = "ann";
    hours.gpus = 8;
    hours.from_us = 1;
    hours.to_us = 2;
    hours.ended = ended;
    jobs_.Put(hours);
  }
  IdleNow Now(const FleetQuestion& question = {}, std::size_t most = kMostIdleJobs) {
    auto idle = ReadIdleNow(*connection_, ListRunningJobs(jobs_, question, most), question);
    EXPECT_TRUE(idle.ok()) << idle.error().message;
    return std::move(*idle);
  }

  FleetJobs jobs_;
};

constexpr char kTwoIdle[] = R"({"kind": "finding", "evidence": {"gpus": [
    {"node": "n1", "device": "gpu6", "idle_seconds": 900, "used_later": true},
    {"node": "n1", "device": "gpu7", "idle_seconds": 1200, "used_later": false},
    {"node": "n2", "device": "gpu7", "idle_seconds": 1260.4, "used_later": false}]}})";

TEST_F(IdleNowTest, AreThoseThatTheRuleListsAndThatWereNotUsedLater) {
  Store(1, kTwoIdle);
  Store(2, R"({"kind": "clear", "evidence": {"gpus": []}})");
  const IdleNow now = Now();
  EXPECT_EQ(now.running_jobs, 2);
  EXPECT_EQ(now.judged_jobs, 2);
  EXPECT_EQ(now.Gpus(), 2);
  const OrderedJson json = ToJson(now);
  EXPECT_EQ(json["jobs"][0]["name"], "job-1");
  EXPECT_EQ(json["jobs"][0]["user"], "ann");
  EXPECT_EQ(json["jobs"][0]["judged_us"], 5);
  EXPECT_EQ(json["jobs"][0]["idle_gpus"][1],
            (OrderedJson{{"node", "n2"}, {"device", "gpu7"}, {"idle_seconds", 1260}}));
}

TEST_F(IdleNowTest, OfAnEndedOrAnUnjudgedJobNothingIsSaid) {
  Store(1, kTwoIdle, true);
  Store(2, "");
  Store(3, R"({"kind": "unknown"})");
  const IdleNow now = Now();
  EXPECT_EQ(now.running_jobs, 2);
  EXPECT_EQ(now.judged_jobs, 0);
  EXPECT_EQ(now.Gpus(), 0);
}

TEST_F(IdleNowTest, AVerdictOfAnotherFormIsNoReasonToFail) {
  const std::vector<std::string> odd = {
      "7",
      "[]",
      R"({"kind": 5})",
      R"({"kind": "finding", "evidence": []})",
      R"({"kind": "finding", "evidence": {"gpus": {"a": 1}}})",
      R"({"kind": "finding", "evidence": {"gpus": [7, null, {"used_later": "no"},
          {"used_later": false, "idle_seconds": "long"}]}})"};
  for (std::size_t i = 0; i < odd.size(); ++i) Store(static_cast<std::int64_t>(i) + 1, odd[i]);
  EXPECT_EQ(Now().Gpus(), 0);
}

TEST_F(IdleNowTest, FiltersHoldAndJobsBeyondTheBoundAreCounted) {
  for (std::int64_t job_id = 1; job_id <= 3; ++job_id) Store(job_id, kTwoIdle);
  EXPECT_EQ(Now({}, 2).not_asked, 1);
  EXPECT_EQ(Now({}, 2).running_jobs, 3);
  EXPECT_EQ(Now({}, 2).Gpus(), 4);
  FleetQuestion question;
  question.user = "bob";
  EXPECT_EQ(Now(question).running_jobs, 0);
  question.user.reset();
  question.scopes = {"job-2"};
  EXPECT_EQ(Now(question).jobs.at(0).name, "job-2");
}

}  // namespace
}  // namespace stepscope::scenarios
