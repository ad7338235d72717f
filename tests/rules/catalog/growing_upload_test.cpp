#include <gtest/gtest.h>

#include "tests/scenarios/replay.h"

namespace stepscope::scenarios {
namespace {

constexpr std::string_view kRule = "GrowingUpload";
constexpr std::size_t kMinute = 120;  // ticks

// A burst of 10 s at each minute, of `rate` bytes/s at its number; 20 kB/s between them.
template <typename Rate>
Scenario Sends(std::size_t minutes, Rate rate, double between = 2e4) {
  Scenario scenario;
  scenario.gpus = 0;
  scenario.stretches = {{minutes * kMinute, 0, 20}};
  scenario.extras = {{{"network_send_bytes_per_second", "eth0"}, [=](auto, auto tick) {
                        const bool sends = tick >= kMinute && tick % kMinute < 20;
                        return sends ? rate(static_cast<double>(tick / kMinute)) : between;
                      }}};
  return scenario;
}
const auto kGrows = [](double minute) { return 10e6 + 1e6 * minute; };
const auto kAlike = [](double minute) { return 20e6 + 1e5 * (static_cast<int>(minute) * 7 % 5); };

TEST(GrowingUpload, FiresWhenBurstsGrow) {
  const auto outcome = Judge(kRule, MakeJob(Sends(20, kGrows)));
  EXPECT_EQ(outcome.verdict.kind, VerdictKind::kFinding);
  EXPECT_NE(outcome.verdict.sentence.find("Node node-0 sends a burst every 60 s: over the last 19 "
                                          "bursts from 104.9 MiB to 276.6 MiB, +9.54 MiB each"),
            std::string::npos)
      << outcome.verdict.sentence;
  EXPECT_TRUE(outcome.verdict.active);
  EXPECT_TRUE(outcome.verdict.evidence.contains("advice"));
  ASSERT_EQ(outcome.findings.size(), 1u);
  EXPECT_EQ(outcome.findings[0].subject.node, "node-0");
  EXPECT_EQ(outcome.findings[0].evidence["bursts"], 19);
}

TEST(GrowingUpload, IsClearWhenBurstsAreAlikeOrWithoutARhythm) {
  EXPECT_EQ(Judge(kRule, MakeJob(Sends(20, kAlike))).verdict.kind, VerdictKind::kClear);
  Scenario odd = Sends(40, kGrows);
  odd.extras[0].value = [](auto, auto tick) {
    const auto minute = tick / kMinute;
    const bool sends = minute == 1 || minute == 2 || minute == 7 || minute == 9 || minute == 18 ||
                       minute == 19 || minute == 30 || minute == 34;
    return sends && tick % kMinute < 20 ? kGrows(static_cast<double>(minute)) : 2e4;
  };
  EXPECT_EQ(Judge(kRule, MakeJob(odd)).verdict.kind, VerdictKind::kClear);
}

// Gradients over the network are no bursts, nor is a machine that sends nothing.
TEST(GrowingUpload, IsClearWithoutBursts) {
  const auto steady = Judge(kRule, MakeJob(Sends(
                                       40, [](double) { return 2e7; }, 2e7)))
                          .verdict;
  EXPECT_EQ(steady.kind, VerdictKind::kClear);
  EXPECT_EQ(steady.sentence, "0 bursts of sending on node node-0 in 40 min.");
}

TEST(GrowingUpload, IsUnknownWithoutSamplesOrEnoughBursts) {
  const auto few = Judge(kRule, MakeJob(Sends(5, kGrows))).verdict;
  EXPECT_EQ(few.kind, VerdictKind::kUnknown);
  EXPECT_EQ(few.sentence, "4 of 6 bursts of sending seen in 5 min");
  Scenario silent = Sends(20, kGrows);
  silent.extras.clear();
  EXPECT_EQ(Judge(kRule, MakeJob(silent)).verdict.sentence,
            "no samples of network_send_bytes_per_second");
}

TEST(GrowingUpload, HasNoParameters) {
  EXPECT_EQ(CompleteParameters(*FindRule(kRule), {{"threshold", 1}}).error().message,
            "GrowingUpload: there is no parameter 'threshold'; it has none");
}

}  // namespace
}  // namespace stepscope::scenarios
