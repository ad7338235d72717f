#include "server/evaluate/rule_status_change.h"

#include <gtest/gtest.h>

#include "rules/catalog/catalog.h"

namespace stepscope {
namespace {

const Time kEnd = FromMicros(9'000'000), kNow = FromMicros(10'000'000);

Verdict Say(VerdictKind kind) {
  Verdict verdict;
  verdict.kind = kind;
  verdict.sentence = "57.3 % of each step";
  if (kind == VerdictKind::kFinding) verdict.fired = FromMicros(5'000'000);
  return verdict;
}

RuleStatusChange Of(RuleStatus before, VerdictKind kind, JobStatus job, bool last) {
  return StatusChangeOf(before, Say(kind), job, last, kEnd, kNow);
}

TEST(RuleStatusChange, IsInProgressUntilTheJobEnds) {
  for (const auto kind : {VerdictKind::kUnknown, VerdictKind::kClear}) {
    const auto standing = Of(RuleStatus::kInProgress, kind, JobStatus::kInProgress, false);
    EXPECT_EQ(standing.status, RuleStatus::kInProgress);
    EXPECT_EQ(standing.details, "57.3 % of each step");
  }
  // The job ended, but not all of it was seen.
  EXPECT_EQ(Of(RuleStatus::kInProgress, VerdictKind::kClear, JobStatus::kCompleted, false).status,
            RuleStatus::kInProgress);
}

TEST(RuleStatusChange, IsFoundAtTheTimeOfTheData) {
  const auto standing =
      Of(RuleStatus::kInProgress, VerdictKind::kFinding, JobStatus::kInProgress, false);
  EXPECT_EQ(standing.status, RuleStatus::kIssuesFound);
  EXPECT_EQ(standing.at, FromMicros(5'000'000));
}

TEST(RuleStatusChange, OfARuleThatJudgesTheWholeIsTheLastOne) {
  const RuleType* whole = FindRule("Dataloader");
  const RuleType* other = FindRule("DataloaderBottleneck");
  constexpr auto kFound = RuleStatus::kIssuesFound;
  EXPECT_EQ(KeptStatus(*whole, kFound, false), kFound);
  EXPECT_EQ(KeptStatus(*whole, kFound, true), RuleStatus::kInProgress);
  EXPECT_EQ(KeptStatus(*other, kFound, true), kFound);
  EXPECT_EQ(KeptStatus(*FindRule("ProfilerReport"), kFound, false), RuleStatus::kInProgress);
}

TEST(RuleStatusChange, StaysFound) {
  for (const auto job : {JobStatus::kStopping, JobStatus::kStopped, JobStatus::kCompleted}) {
    EXPECT_EQ(Of(RuleStatus::kIssuesFound, VerdictKind::kClear, job, true).status,
              RuleStatus::kIssuesFound);
  }
}

TEST(RuleStatusChange, EndsWithTheJob) {
  const auto clear = Of(RuleStatus::kInProgress, VerdictKind::kClear, JobStatus::kFailed, true);
  EXPECT_EQ(clear.status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(clear.at, kEnd);
  const auto unknown =
      Of(RuleStatus::kInProgress, VerdictKind::kUnknown, JobStatus::kCompleted, true);
  EXPECT_EQ(unknown.status, RuleStatus::kNoIssuesFound);
  EXPECT_EQ(unknown.details, "not judged: 57.3 % of each step");
}

TEST(RuleStatusChange, StopsWithTheJob) {
  EXPECT_EQ(Of(RuleStatus::kInProgress, VerdictKind::kClear, JobStatus::kStopping, false).status,
            RuleStatus::kStopping);
  EXPECT_EQ(Of(RuleStatus::kStopping, VerdictKind::kClear, JobStatus::kStopped, false).status,
            RuleStatus::kStopping)
      << "not all of it was seen";
  EXPECT_EQ(Of(RuleStatus::kStopping, VerdictKind::kClear, JobStatus::kStopped, true).status,
            RuleStatus::kStopped);
}

TEST(VerdictJson, HasNoSeverityWhenThereIsNone) {
  const Json clear = ToJson(Say(VerdictKind::kClear), "x");
  EXPECT_TRUE(clear["severity"].is_null());
  EXPECT_EQ(clear["kind"], "clear");
  EXPECT_EQ(clear["active"], false);
  Verdict high = Say(VerdictKind::kFinding);
  high.severity = Severity::kHigh;
  EXPECT_EQ(ToJson(high, "x")["severity"], "high");
}

}  // namespace
}  // namespace stepscope
