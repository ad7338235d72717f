// Answers do not depend on whether frames were compacted already.

#include <gtest/gtest.h>

#include <random>

#include "core/base/text.h"
#include "server/compact/compact_node.h"
#include "server/compact/compact_steps.h"
#include "server/store/jobs/jobs.h"
#include "server/store/retention/removals.h"
#include "server/store/ticks/blocks.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

constexpr std::int64_t kHourTicks = 7'200;  // an hour at 2 Hz
constexpr std::int64_t kTickUs = 500'000;

// Compares charts but for the last digit of a mean: sums of integers round otherwise than those of
// reals.
void ExpectNear(const Json& a, const Json& b) {
  if (a.is_number() && b.is_number()) {
    EXPECT_NEAR(a.get<double>(), b.get<double>(), 2e-4);
    return;
  }
  ASSERT_EQ(a.type(), b.type());
  if (!a.is_structured()) {
    EXPECT_EQ(a, b);
    return;
  }
  ASSERT_EQ(a.size(), b.size());
  auto other = b.begin();
  for (auto one = a.begin(); one != a.end(); ++one, ++other) ExpectNear(*one, *other);
}

class CompactedTest : public ApiTest {
 protected:
  CompactedTest() {
    TestAgent agent("mlp");
    Push(agent.Started(kStartUs));
    Push(agent.Rank(kStartUs, 0));
    std::mt19937 dice(3);
    for (std::int64_t from = 0; from < kHourTicks; from += 600) {
      std::vector<std::int64_t> at_us;
      std::vector<double> percent;
      for (std::int64_t i = from; i < from + 600; ++i) {
        if (i > 3'000 && i < 3'500) continue;  // a gap
        at_us.push_back(kStartUs + i * kTickUs);
        percent.push_back(double(dice() % 10'000) / 100);
      }
      Push(agent.Ticks(at_us, percent));
      Push(agent.Steps(0, kStartUs + from * kTickUs, std::vector<std::int64_t>(200, 100), 0.5,
                       from));
    }
    Push(agent.Ended(kStartUs + kHourTicks * kTickUs, 0));
  }

  std::vector<Json> Answers() {
    std::vector<Json> answers;
    for (const std::string call :
         {"/metrics", "/metrics?points=60", "/metrics?points=4000", "/metrics?points=7", "/steps",
          "/percentiles", "/percentiles?window=0"}) {
      answers.push_back(service_.GetJson("/api/v1/jobs/mlp" + call));
    }
    return answers;
  }
  const SystemClock clock_;

  void Compact() {
    const auto connection = service_.database().Connect();
    const std::int64_t job_id = FindJob(*connection, "mlp")->job_id;
    const std::int64_t node_id = ListNodes(*connection, job_id)->front().node_id;
    const auto ticks = CompactNode(*connection, job_id, node_id);
    ASSERT_TRUE(ticks) << ticks.error().message;
    const auto steps = CompactSteps(*connection, job_id, {0});
    ASSERT_TRUE(steps) << steps.error().message;
    EXPECT_EQ(connection->Query("select count(*) from frames")->Int(0, 0), 0);
  }
};

TEST_F(CompactedTest, ChartsAndStepsAreTheSame) {
  const std::vector<Json> before = Answers();
  Compact();
  const std::vector<Json> after = Answers();
  for (std::size_t i = 0; i < before.size(); ++i) {
    SCOPED_TRACE(i);
    ExpectNear(before[i], after[i]);
  }
}

TEST_F(CompactedTest, RemovedSamplesAreSaidAndTheirRollupsShown) {
  EXPECT_TRUE(service_.GetJson("/api/v1/jobs/mlp").at("samples_from").is_null());
  Compact();
  const auto connection = service_.database().Connect();
  const std::int64_t job_id = FindJob(*connection, "mlp")->job_id;
  const std::int64_t until_us = BlockWindowOf(kStartUs) + 3 * kBlockWindowUs;
  ASSERT_TRUE(NoteSamplesRemoved(*connection, job_id, kStartUs - 1));  // nothing was removed
  EXPECT_TRUE(service_.GetJson("/api/v1/jobs/mlp").at("samples_from_us").is_null());
  while (RemoveSamplesBefore(*connection, job_id, until_us, 100)->rows > 0) {
  }
  EXPECT_EQ(service_.GetJson("/api/v1/jobs/mlp").at("samples_from_us"), until_us);

  const auto minute = [&](std::int64_t from_us) {
    return service_.GetJson(
        Format("/api/v1/jobs/mlp/metrics?from_us={}&to_us={}", from_us, from_us + 59'999'999));
  };
  const Json removed = minute(kStartUs), kept = minute(until_us);
  EXPECT_EQ(removed["bin_us"], 10'000'000);
  EXPECT_TRUE(removed["series"][0]["max"][1].is_number());
  EXPECT_EQ(kept["bin_us"], kTickUs);

  const auto ask = [&](const char* call, std::int64_t from_us) {
    return service_.GetJson(
        Format("/api/v1/jobs/mlp/{}from_us={}&to_us={}", call, from_us, from_us + 59'999'999));
  };
  const char* const heatmap = "heatmap?metric=node_cpu_percent&";
  EXPECT_EQ(ask(heatmap, kStartUs)["bin_us"], 10'000'000);
  EXPECT_EQ(ask(heatmap, kStartUs)["rows"].size(), 1u);
  EXPECT_EQ(ask(heatmap, until_us)["bin_us"], kTickUs);
  EXPECT_EQ(ask("usage?", kStartUs)["of"], "means of 10 s");
  EXPECT_EQ(ask("usage?", kStartUs)["rows"].size(), 1u);
  EXPECT_EQ(ask("usage?", until_us)["of"], "samples");
  EXPECT_EQ(ask("percentiles?", kStartUs)["samples_from_us"], until_us);
  EXPECT_TRUE(ask("percentiles?", until_us)["samples_from_us"].is_null());
}

TEST_F(CompactedTest, ListOfJobsShowsTheSame) {
  // Another service, whose summaries are not remembered from before.
  const auto item = [&] {
    JobSummaries summaries(clock_);
    const auto connection = service_.database().Connect();
    const auto summary = summaries.Of(*connection, FindJob(*connection, "mlp").value());
    EXPECT_TRUE(summary) << summary.error().message;
    return *summary;
  };
  const JobSummary before = item();
  Compact();
  const JobSummary after = item();
  // A bin belongs to the steps when its middle does.
  EXPECT_NEAR(after.mean_cpu_percent.value_or(-1), before.mean_cpu_percent.value_or(-1), 0.1);
  EXPECT_EQ(after.median_step_seconds, before.median_step_seconds);
  // A bin of a rollup falls into the part that its begin lies in.
  for (std::size_t part = 0; part < kSparkPoints; ++part) {
    if (!after.cpu[part]) continue;  // its one sample lies at the border of the gap
    EXPECT_NEAR(after.cpu[part].value_or(-1), before.cpu[part].value_or(-1), 3) << part;
  }
}

}  // namespace
}  // namespace stepscope
