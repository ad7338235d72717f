#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/time.h"
#include "rules/stats/columns.h"
#include "rules/stats/window_values.h"

namespace stepscope {

// What the windows of a device, or of a node as a whole, came to.
struct JudgedDevice {
  std::int64_t windows = 0, crossed = 0;
  double worst = 0;  // window of the job
  // Since the last scan.
  std::int64_t fresh = 0;
  std::optional<Time> from, to;  // of windows that crossed
  double recent = 0;             // the worst of them

  template <typename State>
  void Fields(State& state) {
    state("windows", windows);
    state("crossed", crossed);
    state("worst", worst);
    state("fresh", fresh);
    state("from", from);
    state("to", to);
    state("recent", recent);
  }
};

// The window that a node is in.
struct NodeWindow {
  std::optional<Time> from;  // of the window
  std::map<std::string, WindowValues, std::less<>> devices;

  // The row of each device, or their mean as that of device "". One of them has a value.
  void Add(const std::vector<DeviceColumn>& columns, std::size_t row, bool per_device,
           Aggregation aggregation, std::int64_t window);

  template <typename State>
  void Fields(State& state) {
    state("from", from);
    state("devices", devices, [] { return WindowValues(); });
  }
};

}  // namespace stepscope
