#include <map>
#include <vector>

#include "bench/peer_bodies.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// Whole numbers are integers there.
std::string Field(const std::string& metric, const Column& column, std::size_t row) {
  if (column.scale == 0) return Format("{}={}i", metric, column.values[row]);
  return Format("{}={}", metric, column.At(row));
}

}  // namespace

std::string InfluxLines(const Schema& schema, const Table& ticks, const std::string& job,
                        const std::string& node) {
  std::map<std::string, std::vector<std::size_t>> columns;  // by device
  for (std::size_t index = 1; index < schema.columns.size(); ++index) {
    columns[schema.columns[index].device].push_back(index);
  }
  std::string lines;
  for (std::size_t row = 0; row < ticks.rows; ++row) {
    for (const auto& [device, indices] : columns) {
      lines += device.empty() ? "samples" : Format("samples,device={}", device);
      lines += Format(",job={},node={} ", job, node);
      for (const std::size_t index : indices) {
        if (index != indices.front()) lines += ',';
        lines += Field(schema.columns[index].metric, ticks.columns[index], row);
      }
      lines += Format(" {}\n", ticks.columns[0].values[row] / 1000);
    }
  }
  return lines;
}

}  // namespace stepscope
