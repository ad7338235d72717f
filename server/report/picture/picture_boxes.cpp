#include <algorithm>

#include "core/base/text.h"
#include "server/report/picture/pictures.h"
#include "server/report/picture/svg.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr double kBoxWidth = 1'000, kBoxHeight = 16;
// A GPU that is used evenly still gets a visible box; a box at either end of the scale is moved
// inside it.
constexpr double kLeastBox = 16, kUnit = (kBoxWidth - kLeastBox) / 100;
constexpr double kRoomy = 2 * kLeastBox;  // a narrower box would be hidden by a line in it

double X(double percent) {
  return kLeastBox / 2 + percent * kUnit;
}

void DrawBox(const Box& box, Svg& svg) {
  const double width = std::max(X(box.p75) - X(box.p25), kLeastBox);
  svg.Rect((X(box.p25) + X(box.p75) - width) / 2, 3, width, kBoxHeight - 6, "s0");
  if (width < kRoomy) return;
  svg.Line(X(box.p50), 1, X(box.p50), kBoxHeight - 1, "middle");
}

Markup Draw(const Box& box, const std::vector<double>& marks) {
  Svg svg(kBoxWidth, kBoxHeight, "strip",
          Format("{}: half of the time between {:.0f} and {:.0f} %", box.name, box.p25, box.p75));
  svg.Rect(0, 0, kBoxWidth, kBoxHeight, "ground");
  svg.Line(X(box.p5), kBoxHeight / 2, X(box.p95), kBoxHeight / 2, "whisker");
  for (const double end : {box.p5, box.p95}) svg.Line(X(end), 4, X(end), kBoxHeight - 4, "whisker");
  DrawBox(box, svg);
  for (const double mark : marks) svg.Line(X(mark), 0, X(mark), kBoxHeight, "mark");
  return svg.Take();
}

std::string MarkWords(const std::vector<double>& marks) {
  std::string words =
      "0 to 100 %: the box holds the middle half, the line in it is the median (a narrow box "
      "has none), the ends are the 5th and the 95th percentile";
  if (marks.empty()) return words + ".";
  words += "; dashed: ";
  for (std::size_t i = 0; i < marks.size(); ++i) {
    words += Format("{}{:g} %", i == 0 ? "" : " and ", marks[i]);
  }
  return words + " of the rule.";
}

}  // namespace

Markup Boxes(const std::string& title, const std::vector<Box>& boxes,
             const std::vector<double>& marks) {
  std::vector<std::vector<Markup>> rows;
  for (const Box& box : boxes) {
    rows.push_back({Text(box.name), Draw(box, marks)});
    for (const double value : {box.p5, box.p25, box.p50, box.p75, box.p95}) {
      rows.back().push_back(Text(Format("{:.1f}", value)));
    }
  }
  return Element(
      "figure",
      Element("figcaption", title) +
          ScrollTable(title, {"Device", "Over the whole job", "p5", "p25", "p50", "p75", "p95"},
                      rows) +
          Element("p", {{"class", "note"}}, Text(MarkWords(marks))));
}

}  // namespace stepscope
