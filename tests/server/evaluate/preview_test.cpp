// The preview of a rule is the verdict that it reaches.

#include "server/evaluate/preview.h"
#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {
namespace {

class Previewed : public Evaluation {
 protected:
  RuleConfigRow Config(const StoredJob& stored, const std::string& rule, const Json& parameters) {
    return {stored.job_id(), 0, rule, rule, *CompleteParameters(*FindRule(rule), parameters)};
  }
  std::string Rows(const char* table) {
    return connection_
        ->Query(Format("select md5(coalesce(string_agg(t::text, ',' order by t::text)"
                       ", '')) from {} t",
                       table))
        ->Text(0, 0);
  }
};

TEST_F(Previewed, EachRuleSaysWhatItsEvaluationSays) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreUntil(After(9000));
  stored.EndJob();
  for (const RuleType& rule : Catalog()) {
    const std::string name(rule.name);
    const Json parameters = kSmallParameters.value(name, Json::object());
    const auto preview = PreviewRule(*connection_, Config(stored, name, parameters),
                                     test::FakeClock(After(9000)), PreviewOptions());
    ASSERT_TRUE(preview.ok()) << preview.error().message;
    const Outcome alone = Judge(name, job, parameters);
    EXPECT_TRUE(Says(preview->verdict, alone.verdict, rule)) << name << Dump(preview->verdict);
    EXPECT_TRUE(preview->complete) << name;
    EXPECT_EQ(preview->findings.size(), alone.findings.size()) << name;
    const bool fires = alone.verdict.kind == VerdictKind::kFinding;
    EXPECT_EQ(preview->status, fires ? RuleStatus::kIssuesFound : RuleStatus::kNoIssuesFound)
        << name;
  }
}

TEST_F(Previewed, StoresNothing) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreUntil(After(500));
  for (std::size_t node = 0; node < 2; ++node) stored.Seen(node, After(500));
  Evaluate(stored.job_id(), kGpuRule, After(500));
  const char* tables[] = {"rule_states", "rule_configs", "findings", "status_transitions",
                          "rule_tasks"};
  std::vector<std::string> before, after;
  for (const char* table : tables) before.push_back(Rows(table));
  const auto preview =
      PreviewRule(*connection_, Config(stored, kGpuRule, {{"window", 50}, {"patience", 10}}),
                  test::FakeClock(After(500)), PreviewOptions());
  ASSERT_TRUE(preview.ok());
  EXPECT_EQ(preview->status, RuleStatus::kIssuesFound);
  for (const char* table : tables) after.push_back(Rows(table));
  EXPECT_EQ(before, after);
}

// A clock on which a second passes with each reading.
class SlowClock : public test::FakeClock {
 public:
  using FakeClock::FakeClock;
  SteadyTime Steady() const override { return SteadyTime(seconds_++ * 1s); }

 private:
  mutable int seconds_ = 0;
};

TEST_F(Previewed, EndsWhenItsTimeIsOverAndSaysSo) {
  const Job job = MakeJob(Small());
  StoredJob stored(*connection_, job, kSmallParameters);
  stored.StoreUntil(After(9000));
  stored.EndJob();
  PreviewOptions options;
  options.evaluation.feed.cells = 1;
  const auto preview =
      PreviewRule(*connection_, Config(stored, kGpuRule, {}), SlowClock(After(9000)), options);
  ASSERT_TRUE(preview.ok());
  EXPECT_FALSE(preview->complete);
  EXPECT_EQ(preview->status, RuleStatus::kInProgress);
  EXPECT_GT(preview->rows, 100u);
  EXPECT_LT(preview->rows, 1500u);
  ASSERT_TRUE(preview->seen);
  EXPECT_LT(*preview->seen, After(400));
}

}  // namespace
}  // namespace stepscope::scenarios
