#pragma once

// Pictures from plain data, with their labels; a file each (picture_*.cpp). A picture's content is
// also given in words or numbers beside it, and never by colour alone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "server/report/measure/usage_lines.h"
#include "server/report/text/markup.h"

namespace stepscope {

// A histogram of lengths. The last bin may be wider than the others: the outliers.
struct Bars {
  std::string title;
  std::vector<double> edges;  // one more than counts
  std::vector<std::int64_t> counts;
  std::optional<double> mark;  // a line at this value
  std::string mark_words;
};
Markup Histogram(const Bars& bars);

// Percentiles of a device, 0 to 100.
struct Box {
  std::string name;
  double p5 = 0, p25 = 0, p50 = 0, p75 = 0, p95 = 0;
};
// A row for each box, with a line at each mark.
Markup Boxes(const std::string& title, const std::vector<Box>& boxes,
             const std::vector<double>& marks);

// The number of a device's samples in each of equal parts of 0 to 100 %.
struct Spread {
  std::string name;
  std::vector<std::uint64_t> counts;
  double mean = 0;
};
Markup Spreads(const std::string& title, const std::vector<Spread>& spreads);

// A part of a whole.
struct Part {
  std::string name;
  double share = 0;   // 0 to 1
  std::string words;  // the amount in words
  std::string css;    // CSS classes: "s0" to "s4", "striped s0", "rest"
};
struct Whole {
  std::string name;  // name of the row
  std::vector<Part> parts;
};
// A bar for each row, and a legend of the parts.
Markup Shares(const std::string& title, const std::vector<Whole>& wholes);

// A line over time, with the range it is the mean of; broken where nothing was measured.
struct Stretch {
  std::int64_t from_us = 0, to_us = 0;
};
struct Curve {
  std::string title;
  std::string_view unit;
  std::vector<DeviceUse::Point> points;
  std::int64_t from_us = 0, to_us = 0, gap_us = 0;
  std::optional<double> most;  // end of the scale; the greatest value when there is none
  std::vector<Stretch> shaded = {};
  std::optional<double> mark = {};  // a line at this value
  std::string note = {};            // the meaning of the mark and of the shading
};
Markup Line(const Curve& curve);

// A title, a picture with words at its left and below it, and a note.
struct PictureFrame {
  std::string title, top, bottom;  // at the ends of the vertical scale
  std::vector<std::string> below;  // from left to right, evenly
  Markup note;
};
Markup InFrame(const PictureFrame& frame, const Markup& picture);

// A table whose rows a person may scroll on a small screen.
Markup ScrollTable(const std::string& title, const std::vector<std::string>& heads,
                   const std::vector<std::vector<Markup>>& rows);

}  // namespace stepscope
