#include <gtest/gtest.h>

#include <limits>
#include <set>
#include <string>

#include "core/model/metric.h"
#include "core/model/names.h"
#include "core/model/status.h"
#include "core/model/step.h"
#include "core/model/table.h"

namespace stepscope {
namespace {

TEST(MetricTable, HasEachNameOnce) {
  std::set<std::string_view> names;
  for (const Metric& metric : Metrics()) {
    EXPECT_TRUE(names.insert(metric.name).second) << metric.name;
    EXPECT_FALSE(metric.help.empty());
    EXPECT_EQ(FindMetric(metric.name), &metric);
  }
  EXPECT_EQ(FindMetric("cpu_util"), nullptr);
}

TEST(CustomMetric, LivesUnderUser) {
  EXPECT_TRUE(IsCustomMetric("user.samples_per_second"));
  for (const char* name : {"user.", "users.x", "user.a b", "user.\xff", "cpu_util_percent"}) {
    EXPECT_FALSE(IsCustomMetric(name)) << name;
  }
  EXPECT_FALSE(IsCustomMetric("user." + std::string(59, 'a')));
}

TEST(JobName, FollowsTheRule) {
  for (const char* name : {"a", "resnet-42", "A--b", "0"})
    EXPECT_TRUE(CheckJobName(name).ok()) << name;
  for (const char* name : {"", "-a", "a-", "a_b", "a b", "a/b", "\xc3\xa4"}) {
    EXPECT_FALSE(CheckJobName(name).ok()) << name;
  }
  EXPECT_TRUE(CheckJobName(std::string(63, 'a')).ok());
  EXPECT_EQ(CheckJobName(std::string(64, 'a')).error().message,
            "job name '" + std::string(64, 'a') + "': must have 1 to 63 characters, has 64");
}

TEST(Label, IsTextOfOneLine) {
  EXPECT_TRUE(CheckLabel("node", "n\xc3\xb6rd 1").ok());
  for (const char* label : {"", "a\n", "a\xff", "\x1b[31m"})
    EXPECT_FALSE(CheckLabel("node", label).ok());
}

TEST(StatusWords, GoBothWays) {
  EXPECT_EQ(ParseJobStatus(ToText(JobStatus::kStopped)), JobStatus::kStopped);
  EXPECT_EQ(ParseRuleStatus("IssuesFound"), RuleStatus::kIssuesFound);
  EXPECT_EQ(ParseRuleStatus("issuesfound"), std::nullopt);
  EXPECT_FALSE(HasEnded(JobStatus::kStopping));
}

TEST(Phases, GoBothWays) {
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto phase = static_cast<Phase>(i);
    EXPECT_EQ(ParsePhase(ToText(phase)), phase);
  }
}

TEST(Scaled, RoundsAndStaysInside) {
  EXPECT_EQ(ToScaled(41.268, 2), 4127);
  EXPECT_EQ(ToScaled(-0.5, 0), -1);
  EXPECT_EQ(ToScaled(1e300, 2), std::numeric_limits<std::int64_t>::max());
  EXPECT_EQ(ToScaled(-1e300, 2), std::numeric_limits<std::int64_t>::min());
}

TEST(Column, TellsAMissingValueFromZero) {
  const Column column{.scale = 2, .values = {0, 4127}, .present = {0, 1}};
  EXPECT_FALSE(column.Has(0));
  EXPECT_DOUBLE_EQ(column.At(1), 41.27);
}

TEST(StepTimes, HaveANameEach) {
  std::set<std::string_view> names;
  for (std::size_t i = 0; i < kStepTimes; ++i) {
    names.insert(StepTimeName(i));
    EXPECT_EQ(ParseStepTime(StepTimeName(i)), i);
  }
  EXPECT_EQ(names.size(), kStepTimes);
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const std::string_view phase = ToText(static_cast<Phase>(i));
    EXPECT_EQ(StepTimeName(i), phase);
    EXPECT_EQ(StepTimeName(kFirstGpuTime + i), std::string("gpu_").append(phase));
  }
  EXPECT_FALSE(ParseStepTime("gpu_"));
}

TEST(StepTimes, ThoseByTheGpusClockAreUnknownTogether) {
  Step step;
  SetStepTime(step, kFirstGpuTime, 3ms);
  EXPECT_FALSE(StepTime(step, kFirstGpuTime));
  SetStepTime(step, kGpuIdleTime, 0ms);
  EXPECT_EQ(StepTime(step, kFirstGpuTime), 3ms);
  EXPECT_EQ(StepTime(step, kGpuIdleTime), 0ms);
  const Step without;
  const Column column = StepTimeColumn(std::vector{step, without}, kFirstGpuTime);
  EXPECT_EQ(column.values, std::vector<std::int64_t>({3'000'000, 0}));
  EXPECT_EQ(column.present, std::vector<std::uint8_t>({1, 0}));
}

}  // namespace
}  // namespace stepscope
