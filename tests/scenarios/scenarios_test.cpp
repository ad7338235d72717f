// Each scenario goes through the real ingest into a real database and is judged by all rules: while
// it runs, in slices, and once when it is over. Both must say what the table says, and the same.

#include <gtest/gtest.h>

#include "rules/catalog/catalog.h"
#include "server/evaluate/evaluation.h"
#include "server/ingest/ingest.h"
#include "server/ingest/lost_agents.h"
#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_outcome.h"
#include "tests/scenarios/catalog.h"
#include "tests/scenarios/made_agents.h"
#include "tests/support/postgres.h"

namespace stepscope::scenarios {
namespace {

constexpr Duration kLostAfter = 10min;

// A clock whose wall time is set by the test.
class MovedClock : public SystemClock {
 public:
  Time Now() const override { return now; }
  Time now{};
};

std::vector<NewJob::Rule> AllRules() {
  std::vector<NewJob::Rule> rules;
  for (const RuleType& rule : Catalog()) {
    const std::string name(rule.name);
    rules.push_back({name, name, *CompleteParameters(rule, Json::object())});
  }
  return rules;
}

// The final statuses and diagnosis of a job.
struct Told {
  std::map<std::string, RuleStateRow> rules;
  std::string all;  // text of every rule and finding, to compare two outcomes
  JobStatus status = JobStatus::kInProgress;

  std::string Kind(const std::string& rule) const {
    return rules.at(rule).verdict["kind"].get<std::string>();
  }
  std::vector<std::string> Fired() const {
    std::vector<std::string> fired;
    for (const auto& [name, row] : rules) {
      if (row.status == RuleStatus::kIssuesFound && name != "ProfilerReport") fired.push_back(name);
    }
    return fired;
  }
  std::string Sentences() const {
    std::string text;
    for (const auto& [name, row] : rules) {
      text += Format("{} {}: {}\n", ToText(row.status), name,
                     row.verdict["sentence"].get<std::string>());
    }
    return text;
  }
  // The cause of most lost time.
  std::string Cause() const {
    const Json& report = rules.at("ProfilerReport").verdict;
    if (report["sentence"].get<std::string>().find(kNoBottleneck) != std::string::npos) {
      return std::string(kNoBottleneck);
    }
    const Json& evidence = report["evidence"];
    if (!evidence.contains("budget") || evidence["budget"].size() < 2) return "";
    return evidence["budget"][1]["cause"].get<std::string>();
  }
};

class Service {
 public:
  Service()
      : database_(postgres_.url(), 4),
        connection_(postgres_.Connect()),
        ingest_(database_, clock_, {.default_rules = AllRules(), .public_url = "http://here"}) {}

  // Plays the whole job; it is evaluated about `slices` times while it runs.
  Told Play(const NamedScenario& scenario, const std::string& name, int slices) {
    const Training training = scenario.make();
    const Job job = MakeJob(training, FromMicros(kOriginUs));
    clock_.now = job.origin;
    const auto post = [this](const std::string& body) { return Push(body); };
    std::list<MadeAgent> agents;
    for (std::size_t node = 0; node < training.nodes; ++node) {
      agents.emplace_back(training, job, node, name, post, clock_);
    }
    std::mt19937_64 random(training.seed);
    std::int64_t job_id = 0;
    Time evaluate = job.origin;
    const Duration piece = std::max<Duration>(10 * training.interval, 10s);
    while (clock_.now < job.origin + training.length + 10s) {
      clock_.now += piece;
      for (MadeAgent& agent : agents) Tell(agent);
      if (job_id == 0) job_id = FindJob(*connection_, name)->job_id;
      if (slices == 0 || clock_.now < evaluate) continue;
      Turn(job_id);
      evaluate = clock_.now +
                 training.length * static_cast<std::int64_t>(random() % 200 + 1) / (100 * slices);
    }
    Finish(job_id);
    return Read(job_id);
  }

 private:
  Result<HttpAnswer> Push(const std::string& body) {
    const PushReply reply = ingest_.Push(body);
    EXPECT_EQ(reply.status, 200) << reply.problem_code << ": " << reply.detail;
    for (const RejectedFrame& frame : reply.answer.rejected) {
      ADD_FAILURE() << frame.sequence << " is refused: " << frame.code << " " << frame.detail;
    }
    return HttpAnswer{reply.status, {}, EncodePushAnswer(reply.answer)};
  }

  void Tell(MadeAgent& agent) {
    agent.AppendUntil(clock_.now);
    while (agent.Send() != Sender::kNothingWaits) {
      ASSERT_EQ(agent.reason(), "");
    }
  }

  // Makes one turn of all rules of the job; returns whether any is not done.
  bool Turn(std::int64_t job_id) {
    const auto due = connection_->Query(
        "update rule_tasks set state = 'ready', attempt = 0, due_us = case when job_id = $1 then 0 "
        "else 9000000000000000 end where state <> 'done'",
        {job_id});
    EXPECT_TRUE(due.ok()) << due.error().message;
    const auto tasks = ClaimRuleTasks(*connection_, "test", 100, 30s);
    if (tasks->empty()) return false;
    const auto turns = EvaluateRules(*connection_, *tasks, clock_, {});
    EXPECT_TRUE(turns.ok()) << turns.error().message;
    std::vector<Evaluated> outcomes;
    for (const auto& turn : *turns) {
      EXPECT_TRUE(turn.ok()) << turn.error().message;
      outcomes.push_back(turn->evaluated);
    }
    const auto lost = FinishRuleTasks(*connection_, outcomes, "");
    EXPECT_TRUE(lost.ok()) << lost.error().message;
    EXPECT_EQ(*lost, 0u);
    return true;
  }

  // Ends the job as housekeeping and the evaluator would, long after the last sample.
  void Finish(std::int64_t job_id) {
    clock_.now += kLostAfter + 1min;
    EXPECT_TRUE(MarkLostAgents(*connection_, kLostAfter, ToMicros(clock_.now), "").ok());
    int turns = 0;
    while (Turn(job_id)) ASSERT_LT(++turns, 200) << "never ends";
  }

  Told Read(std::int64_t job_id) {
    Told told;
    told.status = LoadJob(*connection_, job_id)->status;
    for (RuleStateRow& row : *ListRuleStates(*connection_, job_id)) {
      told.all += Format("{} {} at {} {}\n", row.config.name, ToText(row.status), row.changed_us,
                         Dump(row.verdict));
      told.rules.emplace(row.config.name, std::move(row));
    }
    std::vector<std::string> lines;  // numbers are given in the order of arrival
    const auto findings = ListFindings(*connection_, job_id, "", "", 1000);
    for (const FindingRow& finding : findings->items) {
      lines.push_back(Format("{} {} {} {} {}..{} {} {}\n", finding.rule_name, finding.node,
                             finding.device, finding.rank, finding.from_us, finding.to_us,
                             finding.sentence, Dump(finding.evidence)));
    }
    std::ranges::sort(lines);
    for (const std::string& line : lines) told.all += line;
    return told;
  }

  TestDatabase postgres_;
  Database database_;
  std::unique_ptr<stepscope::Connection> connection_;
  MovedClock clock_;
  Ingest ingest_;
};

class Scenarios : public testing::TestWithParam<NamedScenario> {};

TEST_P(Scenarios, SayWhatTheTableSays) {
  const NamedScenario& scenario = GetParam();
  Service service;
  const Told live = service.Play(scenario, "live", 12);
  const Expected& expected = scenario.expected;
  EXPECT_EQ(ToText(live.status), ToText(expected.status));
  EXPECT_EQ(live.Cause(), expected.cause) << live.Sentences();
  const std::vector<std::string> issues(expected.issues.begin(), expected.issues.end());
  EXPECT_EQ(live.Fired(), issues) << live.Sentences();
  const RuleStatus report = live.rules.at("ProfilerReport").status;
  const std::string cause = live.Cause();
  const bool named = !cause.empty() && cause != kNoBottleneck && cause != "unknown";
  EXPECT_EQ(report == RuleStatus::kIssuesFound, named || !issues.empty());
  EXPECT_EQ(live.rules.at("StalledTraining").verdict["active"], false) << "the job has ended";
  for (const std::string_view rule : expected.unknown) {
    const RuleStateRow& row = live.rules.at(std::string(rule));
    EXPECT_EQ(row.verdict["kind"], "unknown") << rule << ": " << row.verdict["sentence"];
    EXPECT_EQ(ToText(row.status), ToText(RuleStatus::kNoIssuesFound)) << rule;
  }
  EXPECT_EQ(live.all, service.Play(scenario, "replayed", 0).all);
}

INSTANTIATE_TEST_SUITE_P(Each, Scenarios, testing::ValuesIn(AllScenarios()), [](const auto& row) {
  std::string name(row.param.name);
  std::ranges::replace(name, '-', '_');
  return name;
});

TEST(ScenarioTable, HasEachNameOnce) {
  std::set<std::string_view> names;
  for (const NamedScenario& scenario : AllScenarios()) {
    EXPECT_TRUE(names.insert(scenario.name).second) << scenario.name;
  }
}

TEST(ScenarioTable, NamesRulesThatExist) {
  for (const NamedScenario& scenario : AllScenarios()) {
    for (const auto* rules : {&scenario.expected.issues, &scenario.expected.unknown}) {
      EXPECT_TRUE(std::ranges::is_sorted(*rules)) << scenario.name;
      for (const std::string_view rule : *rules) {
        EXPECT_NE(FindRule(rule), nullptr) << scenario.name << ": " << rule;
      }
    }
  }
}

}  // namespace
}  // namespace stepscope::scenarios
