// The answer for a rank with many steps comes from the summaries of its blocks.

#include <random>
#include <utility>

#include "server/compact/compact_steps.h"
#include "server/store/jobs/jobs.h"
#include "tests/server/api/api_test.h"

namespace stepscope {
namespace {

constexpr std::int64_t kPushes = 20, kStepsAPush = 1'000, kMostMs = 40;

class LongStepsTest : public ApiTest {
 protected:
  LongStepsTest() {
    Push(agent_.Started(kStartUs));
    Push(agent_.Rank(kStartUs, 0));
  }
  void PushSteps(std::int64_t push, std::int64_t late_us = 0) {
    std::vector<std::int64_t> wall_ms;
    for (std::int64_t i = 0; i < kStepsAPush; ++i) wall_ms.push_back(1 + dice_() % kMostMs);
    wall_ms[dice_() % wall_ms.size()] = 3'000;
    const std::int64_t from_us = kStartUs + push * kStepsAPush * kMostMs * 1'000 + late_us;
    Push(agent_.Steps(0, from_us, wall_ms, 0.25, push * kStepsAPush));
  }
  void Compact() {
    const auto connection = service_.database().Connect();
    const auto done = CompactSteps(*connection, FindJob(*connection, "mlp")->job_id, {0});
    ASSERT_TRUE(done) << done.error().message;
  }
  Json Ask() { return service_.GetJson("/api/v1/jobs/mlp/steps?bins=20")["ranks"][0]; }

  // The phases of a point of a summary are whole microseconds; the rest of a curve is the same.
  static void ExpectNear(Json& summed, Json& read) {
    summed["phases_seconds"]["of data"] = std::exchange(summed["data_seconds"], 0);
    read["phases_seconds"]["of data"] = std::exchange(read["data_seconds"], 0);
    const Json left = std::exchange(summed["phases_seconds"], 0);
    const Json right = std::exchange(read["phases_seconds"], 0);
    ASSERT_EQ(left.size(), right.size());
    for (const auto& [phase, seconds] : right.items()) {
      ASSERT_EQ(left[phase].size(), seconds.size()) << phase;
      for (std::size_t i = 0; i < seconds.size(); ++i) {
        EXPECT_NEAR(left[phase][i].get<double>(), seconds[i].get<double>(), 1e-6) << phase;
      }
    }
  }

  // Compares everything but percentiles and histogram.
  void ExpectSame(Json summed, Json read) {
    EXPECT_EQ(read["wall_error_percent"], 0);
    EXPECT_EQ(summed["wall_error_percent"], 0.4);
    for (const auto& [name, seconds] : read["wall_seconds"].items()) {
      EXPECT_NEAR(summed["wall_seconds"][name].get<double>(), seconds.get<double>(),
                  0.004 * seconds.get<double>());
    }
    std::int64_t counted = 0;
    for (const Json& count : summed["histogram"]["counts"]) counted += count.get<std::int64_t>();
    EXPECT_EQ(counted, summed["steps"]);
    for (const char* name : {"min", "mean", "max"}) {
      EXPECT_EQ(summed["wall_seconds"][name], read["wall_seconds"][name]);
    }
    ExpectNear(summed["series"], read["series"]);
    for (const char* name : {"wall_seconds", "wall_error_percent", "histogram"}) {
      summed.erase(name);
      read.erase(name);
    }
    EXPECT_EQ(summed, read);
  }

  TestAgent agent_{"mlp"};
  std::mt19937_64 dice_{1};
};

TEST_F(LongStepsTest, SummariesOfBlocksTellTheSame) {
  for (std::int64_t push = 0; push < kPushes; ++push) PushSteps(push);
  const Json read = Ask();
  Compact();
  const Json summed = Ask();
  EXPECT_EQ(summed["steps"], kPushes * kStepsAPush);
  EXPECT_EQ(summed["series"]["steps_per_point"], 64);
  ExpectSame(summed, read);
}

TEST_F(LongStepsTest, FramesAndLateStepsCountToo) {
  for (std::int64_t push = 0; push < kPushes; ++push) {
    if (push != 3) PushSteps(push);
  }
  Compact();
  const Json before = Ask();
  PushSteps(3);
  PushSteps(kPushes);
  const Json after = Ask();
  EXPECT_EQ(before["steps"], (kPushes - 1) * kStepsAPush);
  EXPECT_EQ(after["steps"], (kPushes + 1) * kStepsAPush);
  EXPECT_EQ(after["wall_error_percent"], 0.4);
  EXPECT_EQ(after["last_step"], (kPushes + 1) * kStepsAPush - 1);
  const std::vector<std::int64_t> starts = after["series"]["start_us"];
  EXPECT_TRUE(std::ranges::is_sorted(starts));
  Compact();
  EXPECT_EQ(Ask()["steps"], after["steps"]);
}

TEST_F(LongStepsTest, BlocksWithoutSummaryAreRead) {
  for (std::int64_t push = 0; push < kPushes; ++push) PushSteps(push);
  const Json read = Ask();
  Compact();
  const auto connection = service_.database().Connect();
  ASSERT_TRUE(connection->Query("update step_blocks set summary = null"));
  EXPECT_EQ(Ask(), read) << "written by an older service";
  ASSERT_TRUE(connection->Query("update step_blocks set summary = 'gibberish'"));
  EXPECT_EQ(Ask(), read) << "written by a newer one";
}

}  // namespace
}  // namespace stepscope
