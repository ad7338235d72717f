#pragma once

// Turns of the rules of made jobs in a real database, one rule at a time or all together.

#include <gtest/gtest.h>

#include "server/evaluate/evaluation.h"
#include "tests/scenarios/replay.h"
#include "tests/scenarios/stored_job.h"
#include "tests/support/fake_clock.h"
#include "tests/support/postgres.h"

namespace stepscope::scenarios {

inline constexpr const char* kGpuRule = "LowGPUUtilization";

inline Scenario Small(std::size_t nodes = 2) {
  Scenario scenario;
  scenario.nodes = nodes;
  scenario.stretches = {{300, 4, 95, 10, 2, 3}, {400, 90, 50}, {330, 5, 97, 10, 2, 3}};
  scenario.ranks = {{20s, 400, 300ms, 30, 10}, {21s, 60, 5s, 3, 1}};
  return scenario;
}
inline const Json kSmallParameters = {{"LowGPUUtilization", {{"window", 100}, {"patience", 150}}},
                                      {"CPUBottleneck", {{"patience", "60s"}}}};

class Evaluation : public testing::Test {
 protected:
  Evaluation() : connection_(database_.Connect()) {}

  // All tasks of the job, whenever they are due.
  std::vector<RuleTask> ClaimAll(std::int64_t job_id) {
    const auto due = connection_->Query(
        "update rule_tasks set state = 'ready', attempt = 0, "
        "due_us = case when job_id = $1 then 0 else 9000000000000000 end",
        {job_id});
    EXPECT_TRUE(due.ok()) << due.error().message;
    return *ClaimRuleTasks(*connection_, "test", 100, 30s);
  }
  // One turn of a rule, at the given time of the service; the outcome is written.
  Turn Evaluate(std::int64_t job_id, const std::string& rule, Time now) {
    const auto tasks = ClaimAll(job_id);
    const auto rows = ListRuleStates(*connection_, job_id);
    for (const auto& row : *rows) {
      for (const RuleTask& task : tasks) {
        const bool wanted =
            row.config.name == rule && task.rule_config_id == row.config.rule_config_id;
        if (!wanted) continue;
        auto turns = EvaluateRules(*connection_, {&task, 1}, test::FakeClock(now), options_);
        EXPECT_TRUE(turns.ok()) << turns.error().message;
        const auto& turn = turns->front();
        EXPECT_TRUE(turn.ok()) << turn.error().message;
        const Status written = FinishRuleTask(*connection_, turn->evaluated, "http://here");
        EXPECT_TRUE(written.ok()) << written.error().message;
        return *turn;
      }
    }
    ADD_FAILURE() << "no task for " << rule;
    return {};
  }
  // Makes turns of the rule until its last.
  Turn Finish(std::int64_t job_id, const std::string& rule, Time now) {
    for (int turn = 0; turn < 100; ++turn) {
      const Turn done = Evaluate(job_id, rule, now);
      if (done.evaluated.last) return done;
      EXPECT_EQ(done.evaluated.next_in, 0s);
    }
    ADD_FAILURE() << "never ends";
    return {};
  }

  // One turn of all rules but one, together; the outcomes are written.
  void EvaluateAll(std::int64_t job_id, Time now, const std::string& but) {
    auto tasks = ClaimAll(job_id);
    const auto rows = ListRuleStates(*connection_, job_id);
    std::erase_if(tasks, [&](const RuleTask& task) {
      return std::ranges::any_of(*rows, [&](const RuleStateRow& row) {
        return row.config.name == but && row.config.rule_config_id == task.rule_config_id;
      });
    });
    if (tasks.empty()) return;
    const auto turns = EvaluateRules(*connection_, tasks, test::FakeClock(now), options_);
    ASSERT_TRUE(turns.ok()) << turns.error().message;
    std::vector<Evaluated> outcomes;
    for (const auto& turn : *turns) {
      if (turn.ok()) outcomes.push_back(turn->evaluated);
    }
    const auto lost = FinishRuleTasks(*connection_, outcomes, "");
    ASSERT_TRUE(lost.ok()) << lost.error().message;
    EXPECT_EQ(*lost, 0u);
  }
  RuleStateRow State(std::int64_t job_id, const std::string& rule) {
    const auto states = ListRuleStates(*connection_, job_id);
    return *std::ranges::find(*states, rule,
                              [](const RuleStateRow& row) { return row.config.name; });
  }
  void BreakState(std::int64_t job_id, const std::string& rule) {
    const auto broken = connection_->Query(
        "update rule_states set saved = substr(saved, 1, length(saved) - 1) where job_id = $1 and "
        "rule_config_id = $2",
        {job_id, State(job_id, rule).config.rule_config_id});
    EXPECT_TRUE(broken.ok());
  }

  TestDatabase database_;
  std::unique_ptr<stepscope::Connection> connection_;
  EvaluationOptions options_;
};

// The stored verdict is that of the rule's fold; a rule that sums up adds the others.
inline bool Says(const Json& stored, const Verdict& alone, const RuleType& rule) {
  if (!stored.contains("sentence")) return false;
  if (!rule.sums_up) {
    return stored["kind"] == ToText(alone.kind) && stored["sentence"] == alone.sentence &&
           stored["evidence"] == alone.evidence;
  }
  return stored["sentence"].get<std::string>().starts_with(alone.sentence) &&
         stored["evidence"]["budget"] == alone.evidence["budget"];
}

inline constexpr const char* kEndRules = "update rule_states set status = 'NoIssuesFound'";

inline Time After(double seconds) {
  return FromMicros(kOriginUs + static_cast<std::int64_t>(seconds * 1e6));
}

}  // namespace stepscope::scenarios
