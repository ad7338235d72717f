#include "rules/engine/params.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "rules/catalog/catalog.h"

namespace stepscope {
namespace {

const RuleType& LowGpu() {
  return *FindRule("LowGPUUtilization");
}

std::string Refusal(const RuleType& rule, const Json& given) {
  const auto complete = CompleteParameters(rule, given);
  return complete.ok() ? "accepted" : complete.error().message;
}

TEST(Params, FillsInTheDefaultsThatReallyRan) {
  EXPECT_EQ(
      *CompleteParameters(LowGpu(), nullptr),
      Json({{"threshold_p95", 70}, {"threshold_p5", 10}, {"window", 500}, {"patience", 1000}}));
  EXPECT_EQ(
      *CompleteParameters(*FindRule("CPUBottleneck"), Json::object()),
      Json({{"threshold", 50}, {"gpu_threshold", 10}, {"cpu_threshold", 90}, {"patience", 1000}}));
  EXPECT_EQ(*CompleteParameters(*FindRule("DataloaderBottleneck"), Json::object()),
            Json({{"threshold", 20}, {"moderate", 5}, {"min_steps", 20}}));
  EXPECT_EQ(*CompleteParameters(*FindRule("OverallSystemUsage"), Json::object()), Json::object());
}

TEST(Params, KeepsWhatWasGivenAsItWas) {
  const auto complete = CompleteParameters(LowGpu(), {{"window", "250s"}, {"threshold_p5", 12.5}});
  EXPECT_EQ((*complete)["window"], "250s");
  EXPECT_EQ((*complete)["threshold_p5"], 12.5);
}

TEST(Params, NamesRuleParameterValueAndRange) {
  EXPECT_EQ(Refusal(LowGpu(), {{"threshold_p95", 170}}),
            "LowGPUUtilization: threshold_p95 is 170, but must be a number from 0 to 100 %");
  EXPECT_EQ(
      Refusal(LowGpu(), {{"window", 0}}),
      "LowGPUUtilization: window is 0, but must be a whole number from 1 to 65000 samples, or "
      "a time such as \"250s\"");
}

TEST(Params, RefusesWhatIsNotInTheTable) {
  EXPECT_EQ(Refusal(LowGpu(), {{"treshold", 1}}),
            "LowGPUUtilization: there is no parameter 'treshold'; it has threshold_p95, "
            "threshold_p5, window, patience");
  EXPECT_EQ(Refusal(*FindRule("OverallSystemUsage"), {{"window", 1}}),
            "OverallSystemUsage: there is no parameter 'window'; it has none");
}

TEST(Params, RefusesValuesOfAnotherKind) {
  const Json wrong[] = {nullptr, true, "70", Json::array({70}), Json::object(), -0.001, 1e300};
  for (const Json& value : wrong) {
    EXPECT_NE(Refusal(LowGpu(), {{"threshold_p95", value}}), "accepted") << value;
  }
  for (const Json& value : {Json(2.5), Json("5"), Json("-5s"), Json("0s"), Json("x"), Json("")}) {
    EXPECT_NE(Refusal(LowGpu(), {{"window", value}}), "accepted") << value;
  }
  EXPECT_NE(Refusal(LowGpu(), Json::array()), "accepted");
  EXPECT_NE(Refusal(LowGpu(), "window"), "accepted");
}

TEST(Params, TakesNoTimeWhereNoneIsAllowed) {
  EXPECT_EQ(Refusal(LowGpu(), {{"patience", "0s"}}), "accepted");
  EXPECT_NE(Refusal(LowGpu(), {{"window", "0s"}}), "accepted");
  EXPECT_NE(Refusal(LowGpu(), {{"patience", "-1s"}}), "accepted");
}

// The check holds also when the other parameter is the default.
TEST(Params, RefusesThresholdsThatContradictEachOther) {
  EXPECT_EQ(Refusal(*FindRule("DataloaderBottleneck"), {{"moderate", 30}}),
            "DataloaderBottleneck: moderate is 30, but must not be above threshold, which is 20 %");
  EXPECT_EQ(Refusal(*FindRule("CommunicationBottleneck"), {{"threshold", 2.5}}),
            "CommunicationBottleneck: moderate is 3, but must not be above threshold, which is "
            "2.5 %");
  EXPECT_EQ(Refusal(*FindRule("Dataloader"), {{"min_threshold", 300}, {"max_threshold", 299}}),
            "Dataloader: min_threshold is 300, but must not be above max_threshold, which is "
            "299 %");
  EXPECT_EQ(Refusal(LowGpu(), {{"threshold_p5", 71}}),
            "LowGPUUtilization: threshold_p5 is 71, but must not be above threshold_p95, which is "
            "70 %");
  EXPECT_EQ(Refusal(LowGpu(), {{"threshold_p5", 70}}), "accepted");
  EXPECT_EQ(Refusal(LowGpu(), {{"threshold_p95", 70}, {"threshold_p5", 170}}),
            "LowGPUUtilization: threshold_p5 is 170, but must be a number from 0 to 100 %");
}

// A name that is misspelt would compare nothing.
TEST(Catalog, ComparesParametersThatThereAre) {
  for (const RuleType& rule : Catalog()) {
    for (const Param& param : rule.params) {
      if (param.not_above.empty()) continue;
      const auto other = std::ranges::find(rule.params, param.not_above, &Param::name);
      ASSERT_NE(other, rule.params.end()) << rule.name << ": " << param.name;
      EXPECT_EQ(param.unit, other->unit) << rule.name << ": " << param.name;
      EXPECT_LE(param.fallback, other->fallback) << rule.name << ": " << param.name;
    }
  }
}

TEST(Params, TimeMeansTheSameAtEveryInterval) {
  const Json given = {{"window", "250s"}};
  const auto at_500ms = Params::Read(LowGpu().name, LowGpu().params, given, 500ms);
  const auto at_100ms = Params::Read(LowGpu().name, LowGpu().params, given, 100ms);
  EXPECT_EQ(at_500ms->Samples("window"), 500);
  EXPECT_EQ(at_100ms->Samples("window"), 2500);
  EXPECT_EQ(at_100ms->Samples("patience"), 1000);
}

TEST(Params, TimeIsCutToTheRange) {
  const auto hours = Params::Read(LowGpu().name, LowGpu().params, {{"window", "40h"}}, 100ms);
  EXPECT_EQ(hours->Samples("window"), 65'000);
}

TEST(Catalog, KnowsEachRuleByItsExactName) {
  for (const RuleType& rule : Catalog()) {
    EXPECT_EQ(FindRule(rule.name), &rule);
    for (const std::string_view text : {rule.sentence, rule.fires, rule.advice}) {
      EXPECT_TRUE(text.ends_with('.')) << rule.name << ": " << text;
    }
    for (const Param& param : rule.params) {
      EXPECT_LE(param.least, param.fallback) << rule.name << param.name;
      EXPECT_LE(param.fallback, param.most) << rule.name << param.name;
      EXPECT_FALSE(param.help.empty()) << rule.name << param.name;
    }
  }
  EXPECT_EQ(FindRule("lowgpuutilization"), nullptr);
  EXPECT_EQ(FindRule(""), nullptr);
}

}  // namespace
}  // namespace stepscope
