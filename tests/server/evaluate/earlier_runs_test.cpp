// A job is compared with the runs of its group that ended before it was made.

#include "server/evaluate/preview.h"
#include "tests/server/evaluate/evaluation_fixture.h"

namespace stepscope::scenarios {
namespace {

constexpr const char* kRegression = "StepTimeRegression";

Job StepsOf(Duration length) {
  Scenario scenario;
  scenario.stretches = {{10}};
  scenario.ranks = {{5s, static_cast<std::size_t>(10min / length), length, 5, 0}};
  return MakeJob(scenario);
}

class EarlierRuns : public Evaluation {
 protected:
  // A run of the group that is judged to its end.
  Turn Run(const std::string& name, const std::string& group, Duration step) {
    const Job job = StepsOf(step);
    StoredJob stored(*connection_, job, Json::object(), name);
    Change("update jobs set job_group = $2 where job_id = $1", {stored.job_id(), group});
    stored.StoreUntil(After(9000));
    stored.EndJob();
    return Finish(stored.job_id(), kRegression, After(9000));
  }
  // All jobs are made at kOriginUs.
  void EndBefore(const std::string& name) {
    Change("update jobs set ended_us = $2, closed_us = $2 where name = $1", {name, kOriginUs - 1});
  }
  void Change(const char* sql, std::initializer_list<Parameter> values) {
    ASSERT_TRUE(connection_->Query(sql, values).ok());
  }
  std::string Sentence(const Turn& turn) { return turn.evaluated.verdict["sentence"]; }
};

TEST_F(EarlierRuns, OfItsGroupWereFaster) {
  for (const char* name : {"one", "two", "three", "four"}) {
    EXPECT_EQ(Run(name, "nightly", 100ms).evaluated.status, RuleStatus::kNoIssuesFound) << name;
  }
  // None of the runs ended before the job was made.
  EXPECT_EQ(Run("beside", "nightly", 130ms).evaluated.status, RuleStatus::kNoIssuesFound);
  for (const char* name : {"one", "two", "three", "four"}) EndBefore(name);
  const Turn slower = Run("slower", "nightly", 130ms);
  EXPECT_EQ(slower.evaluated.status, RuleStatus::kIssuesFound);
  EXPECT_NE(Sentence(slower).find("in 3 earlier runs of its group"), std::string::npos)
      << Sentence(slower);
  EXPECT_EQ(Run("other", "weekly", 130ms).evaluated.status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(Run("alone", "", 130ms).evaluated.status, RuleStatus::kNoIssuesFound);
}

// A group is a word that everybody may use.
TEST_F(EarlierRuns, AreOfTheSameMaker) {
  Run("spied", "nightly", 100ms);
  EndBefore("spied");
  Change("update jobs set created_by = $2 where name = $1", {"spied", "team-a"});
  EXPECT_EQ(Run("slower", "nightly", 130ms).evaluated.status, RuleStatus::kNoIssuesFound);
}

// Whoever reads the job must be allowed to read the runs.
TEST_F(EarlierRuns, AreSeenByAllWhoReadTheJob) {
  Run("speech-1", "nightly", 100ms);
  EndBefore("speech-1");
  const char* token =
      "insert into tokens (token_id, name, role, scopes, secret_hash, created_us, created_by, "
      "expires_us) values ($1, $1, 'reader', array[$2], '', 0, '', 9223372036854775807)";
  Change(token, {"other", "other-*"});
  EXPECT_EQ(Run("vision-1", "nightly", 130ms).evaluated.status, RuleStatus::kIssuesFound);
  Change(token, {"vision", "vision-*"});
  EXPECT_EQ(Run("vision-2", "nightly", 130ms).evaluated.status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(Run("speech-2", "nightly", 130ms).evaluated.status, RuleStatus::kIssuesFound);
}

TEST_F(EarlierRuns, AreKnownToAPreview) {
  Run("fast", "nightly", 100ms);
  EndBefore("fast");
  const Turn turn = Run("slower", "nightly", 130ms);
  const std::int64_t job_id = turn.evaluated.task.job_id;
  const auto preview = PreviewRule(*connection_, State(job_id, kRegression).config,
                                   test::FakeClock(After(9000)), PreviewOptions());
  ASSERT_TRUE(preview.ok()) << preview.error().message;
  EXPECT_EQ(preview->verdict["evidence"]["runs"], 1);
  EXPECT_EQ(preview->verdict["sentence"], Sentence(turn));
}

// A job is compared with the same runs to its end, whatever ends later.
TEST_F(EarlierRuns, AreKnownWhenTheRuleBegins) {
  Run("slow", "nightly", 120ms);
  EndBefore("slow");
  const Job job = StepsOf(130ms);
  StoredJob stored(*connection_, job, Json::object(), "now");
  Change("update jobs set job_group = 'nightly' where job_id = $1", {stored.job_id()});
  Evaluate(stored.job_id(), kRegression, After(1));
  Change("delete from rule_states where job_id <> $1", {stored.job_id()});
  stored.StoreUntil(After(9000));
  stored.EndJob();
  const Turn turn = Finish(stored.job_id(), kRegression, After(9000));
  EXPECT_EQ(turn.evaluated.verdict["evidence"]["runs"], 1);
  EXPECT_EQ(turn.evaluated.status, RuleStatus::kNoIssuesFound);  // 8 % longer
}

}  // namespace
}  // namespace stepscope::scenarios
