#include <algorithm>

#include "core/base/text.h"
#include "server/report/picture/pictures.h"
#include "server/report/picture/svg.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr double kSpreadWidth = 1'000, kSpreadHeight = 32;

Markup Draw(const Spread& spread) {
  Svg svg(kSpreadWidth, kSpreadHeight, "tall strip",
          Format("{}: samples by utilisation, mean {:.1f} %", spread.name, spread.mean));
  svg.Rect(0, 0, kSpreadWidth, kSpreadHeight, "ground");
  const double most =
      static_cast<double>(std::max<std::uint64_t>(1, *std::ranges::max_element(spread.counts)));
  const double width = kSpreadWidth / static_cast<double>(spread.counts.size());
  for (std::size_t i = 0; i < spread.counts.size(); ++i) {
    if (spread.counts[i] == 0) continue;
    const double height =
        std::max(1.0, static_cast<double>(spread.counts[i]) / most * (kSpreadHeight - 2));
    svg.Rect(static_cast<double>(i) * width + 1, kSpreadHeight - height, width - 2, height, "s0");
  }
  return svg.Take();
}

}  // namespace

Markup Spreads(const std::string& title, const std::vector<Spread>& spreads) {
  std::vector<std::vector<Markup>> rows;
  for (const Spread& spread : spreads) {
    if (spread.counts.empty()) continue;
    rows.push_back({Text(spread.name), Draw(spread), Text(FormatPercent(spread.mean))});
  }
  return Element("figure", Element("figcaption", title) +
                               ScrollTable(title, {"Device", "From 0 to 100 %", "Mean"}, rows) +
                               Element("p", {{"class", "note"}},
                                       Text("Each bar: how many samples lie in 5 % of the scale, "
                                            "against the most of that device.")));
}

}  // namespace stepscope
