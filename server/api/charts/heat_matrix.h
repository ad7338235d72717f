#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace stepscope {

// A device of a node: a value for each column, none where nothing was measured.
struct HeatRow {
  std::string node, device;
  std::vector<std::optional<double>> values;
};

// Sorts as people count: node 9 before node 10, GPU 2 before GPU 10.
void SortRows(std::vector<HeatRow>& rows);

// Writes a byte for each value, row by row: 0 at `low` to 254 at `high`, the ends of all values.
struct HeatMatrix {
  static constexpr unsigned char kNothing = 255;

  double low = 0, high = 0;
  std::string bytes;
};
HeatMatrix ToMatrix(const std::vector<HeatRow>& rows);

}  // namespace stepscope
