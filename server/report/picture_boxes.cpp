#include "core/base/text.h"
#include "server/report/pictures.h"
#include "server/report/svg.h"
#include "server/report/words.h"

namespace stepscope {
namespace {

constexpr double kHeight = 16;
constexpr double kUnit = 10;  // of a percent

Markup Draw(const Box& box, const std::vector<double>& marks) {
  const auto x = [](double percent) { return percent * kUnit; };
  Svg svg(100 * kUnit, kHeight, "strip",
          Format("{}: half of the time between {:.0f} and {:.0f} %", box.name, box.p25, box.p75));
  svg.Rect(0, 0, 100 * kUnit, kHeight, "ground");
  svg.Line(x(box.p5), kHeight / 2, x(box.p95), kHeight / 2, "whisker");
  for (const double end : {box.p5, box.p95}) svg.Line(x(end), 4, x(end), kHeight - 4, "whisker");
  svg.Rect(x(box.p25), 3, std::max(x(box.p75 - box.p25), 3.0), kHeight - 6, "s0");
  svg.Line(x(box.p50), 1, x(box.p50), kHeight - 1, "middle");
  for (const double mark : marks) svg.Line(x(mark), 0, x(mark), kHeight, "mark");
  return svg.Take();
}

std::string MarkWords(const std::vector<double>& marks) {
  std::string words =
      "0 to 100 %: the box holds the middle half, the line in it is the median, the "
      "ends are the 5th and the 95th percentile";
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
