#include "server/report/picture/svg.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

// A tenth of a unit is less than a pixel.
std::string Place(double value) {
  std::string text = Format("{:.1f}", value);
  if (text.ends_with(".0")) text.resize(text.size() - 2);
  return text == "-0" ? "0" : text;
}

}  // namespace

void Svg::Rect(double x, double y, double width, double height, std::string_view css) {
  shapes_ += Element("rect", {{"x", Place(x)},
                              {"y", Place(y)},
                              {"width", Place(width)},
                              {"height", Place(height)},
                              {"class", std::string(css)}});
}

void Svg::Line(double x1, double y1, double x2, double y2, std::string_view css) {
  shapes_ += Element("line", {{"x1", Place(x1)},
                              {"y1", Place(y1)},
                              {"x2", Place(x2)},
                              {"y2", Place(y2)},
                              {"class", std::string(css)}});
}

void Svg::Path(const std::vector<std::pair<double, double>>& points, std::string_view css,
               bool closed) {
  std::string way;
  for (const auto& [x, y] : points) {
    way += way.empty() ? "M" : "L";
    way += Place(x) + " " + Place(y);
  }
  if (closed) way += "Z";
  shapes_ += Element("path", {{"d", way}, {"class", std::string(css)}});
}

Markup Svg::Take() const {
  return Element("svg",
                 {{"class", css_},
                  {"viewBox", "0 0 " + Place(width_) + " " + Place(height_)},
                  {"preserveAspectRatio", "none"},
                  {"role", "img"},
                  {"aria-label", label_}},
                 shapes_);
}

}  // namespace stepscope
