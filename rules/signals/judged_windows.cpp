#include "rules/signals/judged_windows.h"

namespace stepscope {

void NodeWindow::Add(const std::vector<DeviceColumn>& columns, std::size_t row, bool per_device,
                     Aggregation aggregation, std::int64_t window) {
  double sum = 0;
  std::int64_t count = 0;
  for (const DeviceColumn& each : columns) {
    if (!each.Has(row)) continue;
    const double value = each.column->At(row);
    sum += value;
    ++count;
    if (per_device) devices[each.device].Add(value, aggregation, window);
  }
  if (!per_device) devices[""].Add(sum / static_cast<double>(count), aggregation, window);
}

}  // namespace stepscope
