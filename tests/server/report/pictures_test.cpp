// What is drawn, read back from the shapes.

#include "server/report/pictures.h"

#include <gtest/gtest.h>

#include <string>

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

}  // namespace
}  // namespace stepscope
