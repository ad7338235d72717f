// The verdict of the rule that sums up the others.

#include "server/evaluate/summing_up.h"

#include "server/store/rules/create_job.h"
#include "server/store/rules/rule_changes.h"
#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {
namespace {

class SummingUp : public Evaluation {
 protected:
  SummingUp() : job_(MakeJob(Small(1))), stored_(*connection_, job_) {}

  std::int64_t Id(const std::string& rule) {
    return State(stored_.job_id(), rule).config.rule_config_id;
  }
  void Store(const std::string& rule, const Json& verdict) {
    const auto done = connection_->Query(
        "update rule_states set status = 'IssuesFound', changed_us = 7, verdict = $3 where job_id "
        "= $1 and rule_config_id = $2",
        {stored_.job_id(), Id(rule), Dump(verdict)});
    ASSERT_TRUE(done.ok()) << done.error().message;
  }
  OtherRules Others(std::span<const RuleNow> now, const std::string& of = "ProfilerReport") {
    RuleTask task;
    task.job_id = stored_.job_id();
    task.rule_config_id = Id(of);
    const auto others = ReadOtherRules(*connection_, task, now);
    EXPECT_TRUE(others.ok()) << others.error().message;
    return *others;
  }
  Verdict Summed(std::span<const RuleNow> now) {
    Verdict verdict;
    SumUp(Others(now), verdict);
    return verdict;
  }

  const Job job_;
  StoredJob stored_;
};

TEST_F(SummingUp, IsActiveWhileAnotherRuleIsAndHasTheLargestShare) {
  EXPECT_FALSE(Summed({}).active);
  Store("CPUBottleneck", {{"active", false}, {"share", 0.5}});
  EXPECT_EQ(Summed({}).kind, VerdictKind::kFinding);
  EXPECT_FALSE(Summed({}).active);
  Store(kGpuRule, {{"active", true}, {"share", 0.25}});
  EXPECT_TRUE(Summed({}).active);
  EXPECT_EQ(Summed({}).share, 0.5);
}

TEST_F(SummingUp, GoesByTheTurnThatARuleHadJustNow) {
  Store(kGpuRule, {{"active", true}, {"share", 0.75}});
  const RuleNow calm[] = {{Id(kGpuRule), RuleStatus::kIssuesFound, 9, false, 0.5}};
  EXPECT_FALSE(Summed(calm).active);
  EXPECT_EQ(Summed(calm).share, 0.5);
  const RuleNow fires[] = {{Id("IdleGPU"), RuleStatus::kIssuesFound, 9, true, 0.25}};
  EXPECT_TRUE(Summed(fires).active);
  EXPECT_EQ(Summed(fires).share, 0.75);
}

// The diagnosis has named a cause.
TEST_F(SummingUp, WhatTheReportFoundStaysWhereNoOtherRuleFired) {
  Verdict verdict;
  verdict.kind = VerdictKind::kFinding;
  verdict.sentence = "Most was lost to copies to the GPU, 81.2 %.";
  SumUp(Others({}), verdict);
  EXPECT_EQ(verdict.kind, VerdictKind::kFinding);
  EXPECT_EQ(verdict.sentence, "Most was lost to copies to the GPU, 81.2 %.");
}

// A missing verdict, or one with other members, counts as inactive.
TEST_F(SummingUp, AVerdictThatSaysNothingIsNotActive) {
  Store(kGpuRule, Json::object());
  EXPECT_FALSE(Summed({}).active);
  EXPECT_EQ(Summed({}).share, 0);
}

// Two rules that sum up would keep each other firing, and neither would end.
TEST_F(SummingUp, AnotherOneThatSumsUpDoesNotCount) {
  const NewJob::Rule again = {"again", "ProfilerReport", Json::object()};
  ASSERT_TRUE(AddRules(*connection_, stored_.job_id(), {&again, 1}, 1).ok());
  ASSERT_TRUE(connection_->Execute("update rule_states set status = 'NoIssuesFound'").ok());
  Store("again", {{"active", true}, {"share", 1}});
  const OtherRules others = Others({});
  EXPECT_EQ(others.count, Catalog().size() - 1);
  EXPECT_TRUE(others.fired.empty());
  EXPECT_FALSE(others.active);
  ASSERT_TRUE(connection_
                  ->Execute("update rule_states set status = 'InProgress' where "
                            "rule_config_id = (select rule_config_id from rule_configs "
                            "where name = 'again')")
                  .ok());
  EXPECT_TRUE(Others({}).ended);
}

}  // namespace
}  // namespace stepscope::scenarios
