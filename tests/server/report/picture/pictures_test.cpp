// The drawn values, read back from the shapes.

#include "server/report/picture/pictures.h"

#include <gtest/gtest.h>

#include <string>

#include "server/report/measure/step_summary.h"
#include "server/report/page/sections.h"

namespace stepscope {
namespace {

// The first shape of a class, or "".
std::string ShapeOf(const std::string& picture, const std::string& css) {
  const auto at = picture.find(" class=\"" + css + "\"/>");
  if (at == picture.npos) return "";
  return picture.substr(picture.rfind('<', at), at - picture.rfind('<', at));
}

double NumberOf(const std::string& shape, const std::string& name) {
  const auto at = shape.find(" " + name + "=\"");
  return at == shape.npos ? -1 : std::stod(shape.substr(at + name.size() + 3));
}

std::string BoxOf(double p25, double p50, double p75) {
  return Boxes("GPU", {{"a", p25, p25, p50, p75, p75}}, {}).text();
}

TEST(Boxes, AnEvenUseHasABoxInSight) {
  for (const double percent : {0.0, 82.0, 100.0}) {
    const std::string box = ShapeOf(BoxOf(percent, percent, percent), "s0");
    EXPECT_GE(NumberOf(box, "x"), 0) << percent;
    EXPECT_GE(NumberOf(box, "width"), 16) << percent;
    EXPECT_LE(NumberOf(box, "x") + NumberOf(box, "width"), 1'000) << percent;
  }
}

TEST(Boxes, TheMedianDoesNotHideANarrowBox) {
  EXPECT_EQ(ShapeOf(BoxOf(81, 82, 83), "middle"), "");
  const std::string wide = BoxOf(20, 60, 90);
  const double middle = NumberOf(ShapeOf(wide, "middle"), "x1"),
               from = NumberOf(ShapeOf(wide, "s0"), "x"),
               width = NumberOf(ShapeOf(wide, "s0"), "width");
  EXPECT_NEAR((middle - from) / width, 40.0 / 70, 0.001);
}

TEST(Line, HasAThresholdThatIsNeverReachedAndValuesBelowZero) {
  Curve curve;
  curve.points = {{0, -50, -50, -50}, {1, 25, 25, 25}};
  curve.to_us = curve.gap_us = 1;
  curve.mark = 100;
  const std::string picture = Line(curve).text();
  EXPECT_NEAR(NumberOf(ShapeOf(picture, "mark"), "y1"), 120 * 5 / 155.0, 0.1) << picture;
  EXPECT_NE(picture.find("<span>-50</span>"), picture.npos);
}

// 240 steps of a second each, then samples alone.
Report Stalled() {
  Report report;
  StepSummary summary;
  for (std::int64_t i = 0; i < 240; ++i) {
    Step step;
    step.number = i;
    step.start = FromMicros(i * 1'000'000);
    step.wall = std::chrono::seconds(1);
    summary.Add(step);
  }
  report.steps.emplace_back().steps = summary.Finish(10);
  report.times.loop_from_us = 0;
  report.times.loop_to_us = 240'000'000;
  report.data_to_us = 780'000'000;
  return report;
}

TEST(StallLine, HasTheTimeAfterTheLastStep) {
  RuleSection rule;
  rule.rule = "StalledTraining";
  rule.answer = {{"evidence", {{"limit_seconds", 300}}}};
  rule.findings.emplace_back().from_us = 240'000'000;
  rule.findings.back().to_us = 780'000'000;
  const std::string picture = RulePicture(Stalled(), rule).text();
  const std::string shade = ShapeOf(picture, "shade");
  EXPECT_NEAR(NumberOf(shade, "x"), 1'000 * 240 / 780.0, 0.1) << picture;
  EXPECT_NEAR(NumberOf(shade, "width"), 1'000 * 540 / 780.0, 0.1);
  EXPECT_NE(picture.find("Shaded: no step ended."), picture.npos);
  EXPECT_NE(picture.find("<span>13 min 00 s</span>"), picture.npos);
}

}  // namespace
}  // namespace stepscope
