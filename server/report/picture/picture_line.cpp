#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "server/report/picture/pictures.h"
#include "server/report/picture/svg.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

constexpr double kLineWidth = 1'000, kLineHeight = 120;

using Points = std::vector<DeviceUse::Point>;

// The stretches of a line without a gap in them.
std::vector<Points> Unbroken(const Curve& curve) {
  std::vector<Points> parts;
  for (const DeviceUse::Point& point : curve.points) {
    const bool joined = !parts.empty() && point.at_us - parts.back().back().at_us <= curve.gap_us;
    if (!joined) parts.emplace_back();
    parts.back().push_back(point);
  }
  return parts;
}

// The scale: from 0, or from the least value below it, to the greatest value drawn.
struct Field {
  double from = 0, width = 1, least = 0, most = 1;

  explicit Field(const Curve& curve)
      : from(static_cast<double>(curve.from_us)),
        width(static_cast<double>(std::max<std::int64_t>(curve.to_us - curve.from_us, 1))) {
    double highest = std::max(curve.mark.value_or(0), 0.0);
    least = std::min(curve.mark.value_or(0), 0.0);
    for (const DeviceUse::Point& point : curve.points) {
      highest = std::max(highest, point.most);
      least = std::min(least, point.least);
    }
    most = curve.most.value_or(highest > 0 ? highest * 1.05 : least < 0 ? 0 : 1);
  }
  double X(std::int64_t at_us) const {
    return std::clamp((static_cast<double>(at_us) - from) / width * kLineWidth, 0.0, kLineWidth);
  }
  double Y(double value) const {
    return kLineHeight - std::clamp((value - least) / (most - least), 0.0, 1.0) * kLineHeight;
  }
  std::pair<double, double> Place(std::int64_t at_us, double value) const {
    return {X(at_us), Y(value)};
  }
};

void DrawPart(const Points& part, const Field& field, Svg& svg) {
  std::vector<std::pair<double, double>> line, band;
  for (const DeviceUse::Point& point : part) {
    line.push_back(field.Place(point.at_us, point.mean));
    band.push_back(field.Place(point.at_us, point.most));
  }
  for (auto point = part.rbegin(); point != part.rend(); ++point) {
    band.push_back(field.Place(point->at_us, point->least));
  }
  if (part.size() == 1) {  // a single point must be visible
    line.push_back({line[0].first + 2, line[0].second});
  }
  svg.Path(band, "band", true);
  svg.Path(line, "curve");
}

// A short stretch in a long job must be visible, too.
void Shade(const Stretch& stretch, const Field& field, Svg& svg) {
  constexpr double kLeastShade = 4;
  const double from = std::min(field.X(stretch.from_us), kLineWidth - kLeastShade);
  svg.Rect(from, 0, std::max(field.X(stretch.to_us) - from, kLeastShade), kLineHeight, "shade");
}

}  // namespace

Markup Line(const Curve& curve) {
  if (curve.points.empty()) return {};
  const Field field(curve);
  const std::vector<Points> parts = Unbroken(curve);
  Svg svg(kLineWidth, kLineHeight, "plot",
          Format("{}, over {}{}", curve.title, FormatDuration(field.width / 1e6),
                 parts.size() > 1 ? ", with gaps" : ""));
  for (const Stretch& stretch : curve.shaded) Shade(stretch, field, svg);
  for (const double share : {0.25, 0.5, 0.75}) {
    svg.Line(0, kLineHeight * share, kLineWidth, kLineHeight * share, "grid");
  }
  for (const Points& part : parts) DrawPart(part, field, svg);
  if (curve.mark) svg.Line(0, field.Y(*curve.mark), kLineWidth, field.Y(*curve.mark), "mark");
  const double seconds = field.width / 1e6;
  PictureFrame frame{.title = curve.title,
                     .top = FormatValue(field.most, curve.unit),
                     .bottom = FormatValue(field.least, curve.unit),
                     .below = {"0 s", FormatDuration(seconds / 2), FormatDuration(seconds)},
                     .note = {}};
  if (!curve.note.empty()) frame.note = Element("p", {{"class", "note"}}, Text(curve.note));
  return InFrame(frame, svg.Take());
}

}  // namespace stepscope
