#include <algorithm>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "server/report/picture/pictures.h"
#include "server/report/picture/svg.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr double kHistogramWidth = 1'000, kHistogramHeight = 160;
constexpr double kTail = 40;  // width of a wider last bin and the gap before it

struct Layout {
  bool tail = false;  // the last bin stands apart
  double low = 0, high = 0, width = kHistogramWidth;

  explicit Layout(const Bars& bars) {
    const std::vector<double>& edges = bars.edges;
    const std::size_t last = edges.size() - 1;
    tail = last > 2 && edges[last] - edges[last - 1] > 1.01 * (edges[1] - edges[0]);
    low = edges.front();
    high = edges[tail ? last - 1 : last];
    if (tail) width = kHistogramWidth - kTail;
  }
  double X(double value) const { return high > low ? (value - low) / (high - low) * width : 0; }
};

std::string Describe(const Bars& bars) {
  std::int64_t total = 0;
  for (const std::int64_t count : bars.counts) total += count;
  return Format("{}: {} between {} and {}", bars.title, Grouped(total),
                FormatDuration(bars.edges.front()), FormatDuration(bars.edges.back()));
}

Markup Draw(const Bars& bars, const Layout& layout, std::int64_t most) {
  Svg svg(kHistogramWidth, kHistogramHeight, "plot", Describe(bars));
  const auto height = [&](std::int64_t count) {
    const double full =
        static_cast<double>(count) / static_cast<double>(most) * (kHistogramHeight - 4);
    return count > 0 ? std::max(full, 2.0) : 0;  // a single outlier must be visible
  };
  for (std::size_t i = 0; i < bars.counts.size(); ++i) {
    if (bars.counts[i] == 0) continue;
    const bool apart = layout.tail && i + 1 == bars.counts.size();
    const double from = apart ? layout.width + kTail / 4 : layout.X(bars.edges[i]);
    const double to = apart ? kHistogramWidth : std::max(layout.X(bars.edges[i + 1]), from + 4);
    svg.Rect(from + 0.5, kHistogramHeight - height(bars.counts[i]), std::max(to - from - 1, 1.0),
             height(bars.counts[i]), apart ? "s1" : "s0");
  }
  if (bars.mark && *bars.mark >= layout.low && *bars.mark <= layout.high) {
    svg.Line(layout.X(*bars.mark), 0, layout.X(*bars.mark), kHistogramHeight, "mark");
  }
  return svg.Take();
}

}  // namespace

Markup Histogram(const Bars& bars) {
  if (bars.counts.empty() || bars.edges.size() != bars.counts.size() + 1) return {};
  const std::int64_t most = *std::ranges::max_element(bars.counts);
  if (most <= 0) return {};
  const Layout layout(bars);
  PictureFrame frame{
      .title = bars.title, .top = Grouped(most), .bottom = "0", .below = {}, .note = {}};
  frame.below = {FormatDuration(layout.low), FormatDuration((layout.low + layout.high) / 2),
                 FormatDuration(layout.high)};
  std::string note = bars.mark_words.empty() ? "" : "Dashed line: " + bars.mark_words + ". ";
  if (layout.tail) {
    note +=
        Format("The bar that stands apart: the {} above {}, up to {}.", Grouped(bars.counts.back()),
               FormatDuration(layout.high), FormatDuration(bars.edges.back()));
  }
  if (!note.empty()) frame.note = Element("p", {{"class", "note"}}, Text(note));
  return InFrame(frame, Draw(bars, layout, most));
}

}  // namespace stepscope
