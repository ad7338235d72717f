#include "tests/rules/pages/picture.h"

#include <cmath>

namespace stepscope::scenarios {
namespace {

constexpr double kWidth = 760, kLeft = 56, kRight = 40, kPanel = 116, kTop = 26, kGap = 22;
constexpr double kBottom = 40, kPlot = kWidth - kLeft - kRight;
constexpr std::size_t kColumns = 346;  // columns of two units each

// The colours of the web page (web/src/palette.ts).
constexpr std::string_view kStyle = R"(<style>
text{font:12px system-ui,sans-serif;fill:#55606b}
.title{fill:#16202b;font-weight:600}
.grid{color:#e1e5ea}.limit{color:#8a5300}.fired{color:#e0347f}
.s0{color:#0b5cad}.s1{color:#b67a20}.s2{color:#2b1038}.step{color:#7fa9d4}.part{color:#0b3d75}
.grid,.limit,.step,.part{stroke:currentColor}
.limit{stroke-dasharray:5 4}.limit-text,.fired-text{fill:currentColor}
.step,.part{stroke-width:2}
.line{fill:none;stroke:currentColor;stroke-width:1.6;stroke-linejoin:round}
.band{fill:currentColor;fill-opacity:.22}
.fired{fill:currentColor}.shade{fill-opacity:.13}
@media (prefers-color-scheme:dark){
text{fill:#a4afbb}.title{fill:#e6eaee}.grid{color:#2c3540}.limit{color:#f0b429}
.fired{color:#ff6fa8}.shade{fill-opacity:.2}
.s0{color:#6cb2ff}.s1{color:#ffc08f}.s2{color:#d9f24f}.step{color:#2f5d8f}.part{color:#9ccbff}
}
</style>
)";
// Least, mean and greatest of the values in a column of the picture.
struct Bucket {
  double least = 0, most = 0, sum = 0, part = 0;
  int count = 0;

  void Add(double value, double part_now = 0) {
    least = count == 0 ? value : std::min(least, value);
    if (count == 0 || value > most) part = part_now;
    most = count == 0 ? value : std::max(most, value);
    sum += value;
    ++count;
  }
  double Mean() const { return sum / std::max(count, 1); }
};
using Buckets = std::vector<Bucket>;

// 1, 2 or 5 times a power of ten that divides `span` into about `parts`.
double NiceStep(double span, double parts) {
  const double rough = span / parts, power = std::pow(10, std::floor(std::log10(rough)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= rough) return times * power;
  }
  return 10 * power;
}

class Drawing {
 public:
  Drawing(const Footprint& footprint, const Outcome& outcome)
      : footprint_(footprint), outcome_(outcome), job_(footprint.job) {
    seconds_ = ToSeconds(FromMicros(job_.nodes[0].at_us.back()) - job_.origin);
  }

  std::string Make() {
    const auto panels = static_cast<double>(footprint_.panels.size());
    const double height = panels * (kTop + kPanel) + (panels - 1) * kGap + kBottom;
    svg_ = Format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {:.0f} {:.0f}\" role=\"img\" "
        "aria-label=\"What {} sees\">\n{}",
        kWidth, height, footprint_.rule, kStyle);
    double top = kTop;
    for (const Panel& panel : footprint_.panels) {
      DrawPanel(panel, top);
      top += kTop + kPanel + kGap;
    }
    DrawTime(height - kBottom + 16);
    return svg_ + "</svg>\n";
  }

 private:
  double X(Time at) const {
    const double part = ToSeconds(at - job_.origin) / seconds_;
    return kLeft + std::clamp(part, 0.0, 1.0) * kPlot;
  }
  std::size_t ColumnAt(Time at) const {
    const double part = ToSeconds(at - job_.origin) / seconds_;
    return static_cast<std::size_t>(std::clamp(part, 0.0, 0.999999) * kColumns);
  }
  double Height(double value) const { return value / most_ * kPanel; }
  static double ColumnX(std::size_t column) {
    return kLeft + (static_cast<double>(column) + 0.5) * kPlot / kColumns;
  }

  Buckets Of(const Drawn& drawn) const {
    Buckets columns(kColumns);
    const NodeTicks& node = job_.nodes[0];
    const auto found = std::ranges::find(node.series, drawn.series);
    if (found == node.series.end()) return columns;
    const auto& values = node.columns[static_cast<std::size_t>(found - node.series.begin())];
    for (std::size_t row = 0; row < node.at_us.size(); ++row) {
      if (!values.Has(row)) continue;
      columns[ColumnAt(FromMicros(node.at_us[row]))].Add(values.At(row) / drawn.divisor);
    }
    return columns;
  }

  Buckets StepsOf(const Panel& panel) const {
    Buckets columns(kColumns);
    for (const RankSteps& rank : job_.ranks) {
      if (rank.rank != panel.rank) continue;
      for (const Step& step : rank.steps) {
        columns[ColumnAt(step.start)].Add(ToSeconds(step.wall), ToSeconds(step.phase(panel.phase)));
      }
    }
    return columns;
  }

  void DrawPanel(const Panel& panel, double top) {
    std::vector<Buckets> lines;
    for (const Drawn& drawn : panel.lines) lines.push_back(Of(drawn));
    if (lines.empty()) lines.push_back(StepsOf(panel));
    double most = panel.threshold.value_or(0);
    for (const Buckets& line : lines) {
      for (const Bucket& column : line) most = std::max(most, column.most);
    }
    const double step = NiceStep(std::max(most, 1e-6), 4);
    const bool percent = panel.title.find('%') != std::string::npos && most > 50;
    most_ = percent ? 100 : std::ceil(most * 1.02 / step) * step;
    const double base = top + kPanel;
    DrawFired(panel, top);
    DrawGrid(step, base);
    svg_ += Format("<text class=\"title\" x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n", kLeft, top - 9,
                   panel.title);
    if (panel.lines.empty()) {
      DrawSteps(lines[0], panel.phase, base);
    } else {
      for (std::size_t i = 0; i < lines.size(); ++i) DrawLine(panel, lines, i, base);
    }
    if (panel.threshold) DrawLimit(*panel.threshold, base);
  }

  void DrawFired(const Panel& panel, double top) {
    for (const Finding& finding : outcome_.findings) {
      const int rank = finding.subject.rank;
      const bool other = panel.lines.empty() && rank >= 0 && rank != panel.rank;
      if (other) continue;
      const double from = X(finding.from), to = std::max(X(finding.to), from + 2);
      svg_ += Format(
          "<path class=\"fired shade\" d=\"M{0:.1f} {1:.0f}h{2:.1f}v{3:.0f}h-{2:.1f}z\"/><path "
          "class=\"fired\" d=\"M{0:.1f} {4:.0f}h{2:.1f}v3h-{2:.1f}z\"/>\n",
          from, top, to - from, kPanel, top - 4);
    }
  }

  void DrawGrid(double step, double base) {
    for (double value = 0; value <= most_ * 1.001; value += step) {
      const double y = base - Height(value);
      svg_ += Format(
          "<path class=\"grid\" d=\"M{:.0f} {:.1f}h{:.0f}\"/><text x=\"{:.0f}\" y=\"{:.1f}\" "
          "text-anchor=\"end\">{:g}</text>\n",
          kLeft, y, kPlot, kLeft - 8, y + 4, std::round(value * 1e6) / 1e6);
    }
  }

  void DrawLine(const Panel& panel, const std::vector<Buckets>& lines, std::size_t which,
                double base) {
    std::string above, below, mean;
    double last_y = base;
    for (std::size_t i = 0; i < kColumns; ++i) {
      const Bucket& column = lines[which][i];
      if (column.count == 0) continue;
      const double x = ColumnX(i);
      const char* move = mean.empty() ? "M" : "L";
      last_y = base - Height(column.Mean());
      mean += Format("{}{:.0f} {:.1f}", move, x, last_y);
      above += Format("{}{:.0f} {:.1f}", move, x, base - Height(column.most));
      below = Format("L{:.0f} {:.1f}", x, base - Height(column.least)) + below;
    }
    svg_ += Format("<path class=\"s{} band\" d=\"{}{}Z\"/>\n", which, above, below);
    svg_ += Format("<path class=\"s{} line\" d=\"{}\"/>\n", which, mean);
    if (panel.lines.size() == 1) return;
    DrawName(Format("s{} line", which), panel.lines[which].label, lines.size() - which, base);
  }

  // The legend stands in the title's row, with its last entry at the end, so that it never covers
  // the lines.
  void DrawName(const std::string& look, const std::string& name, std::size_t from_end,
                double base) {
    const double x = kWidth - kRight - static_cast<double>(from_end) * 120 + 20;
    const double y = base - kPanel - 13;
    svg_ += Format(
        "<path class=\"{}\" d=\"M{:.0f} {:.0f}h14\"/><text x=\"{:.0f}\" y=\"{:.0f}\">{}</text>\n",
        look, x, y, x + 19, y + 4, name);
  }

  // The longest step of each column, with the part that is its phase.
  void DrawSteps(const Buckets& steps, Phase phase, double base) {
    std::string whole, part;
    for (std::size_t i = 0; i < kColumns; ++i) {
      if (steps[i].count == 0) continue;
      const double x = ColumnX(i);
      whole += Format("M{:.0f} {:.1f}v{:.1f}", x, base, -Height(steps[i].most));
      if (steps[i].part > 0)
        part += Format("M{:.0f} {:.1f}v{:.1f}", x, base, -Height(steps[i].part));
    }
    svg_ += Format("<path class=\"step\" d=\"{}\"/>\n", whole);
    if (part.empty()) return;
    svg_ += Format("<path class=\"part\" d=\"{}\"/>\n", part);
    DrawName("step", "whole step", 2, base);
    DrawName("part", std::string(ToText(phase)), 1, base);
  }

  void DrawLimit(double value, double base) {
    const double y = base - Height(value);
    svg_ += Format(
        "<g class=\"limit\"><path d=\"M{:.0f} {:.1f}h{:.0f}\"/><text class=\"limit-text\" "
        "stroke=\"none\" "
        "x=\"{:.0f}\" y=\"{:.1f}\">{:g}</text></g>\n",
        kLeft, y, kPlot, kWidth - kRight + 5, y + 4, value);
  }

  void DrawTime(double y) {
    const double minutes = seconds_ / 60, step = NiceStep(minutes, 8);
    for (double minute = 0; minute <= minutes; minute += step) {
      svg_ += Format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">{:g}</text>\n",
                     kLeft + minute / minutes * kPlot, y, minute);
    }
    svg_ +=
        Format("<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"end\">minutes of the job</text>\n",
               kWidth - kRight, y + 16);
    if (outcome_.findings.empty()) return;
    svg_ += Format(
        "<g class=\"fired\"><path d=\"M{:.0f} {:.0f}h14v3h-14z\"/><text class=\"fired-text\" "
        "x=\"{:.0f}\" "
        "y=\"{:.0f}\">the rule found this</text></g>\n",
        kLeft, y + 10, kLeft + 20, y + 16);
  }

  const Footprint& footprint_;
  const Outcome& outcome_;
  const Job& job_;
  double seconds_ = 1, most_ = 1;
  std::string svg_;
};

}  // namespace

std::string Picture(const Footprint& footprint, const Outcome& outcome) {
  return Drawing(footprint, outcome).Make();
}

}  // namespace stepscope::scenarios
