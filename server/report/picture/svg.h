#pragma once

// The shapes of pictures. Pictures stretch with the page, so there is no text in them: labels stand
// beside them as text of the page, and are as large on a phone as on paper.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "server/report/text/markup.h"

namespace stepscope {

// A field with units of its own and its origin in the upper left corner; `label` describes it in
// words.
class Svg {
 public:
  Svg(double width, double height, std::string_view css, std::string_view label)
      : width_(width), height_(height), css_(css), label_(label) {}

  // `css` are classes of page/style.cpp.
  void Rect(double x, double y, double width, double height, std::string_view css);
  void Line(double x1, double y1, double x2, double y2, std::string_view css);
  // A line through these points; `closed` fills the area between them.
  void Path(const std::vector<std::pair<double, double>>& points, std::string_view css,
            bool closed = false);

  double width() const { return width_; }
  double height() const { return height_; }
  Markup Take() const;

 private:
  double width_, height_;
  std::string css_, label_;
  Markup shapes_;
};

}  // namespace stepscope
