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

// The result begin begin of the windows of a device, or of a node as a whole.
struct JudgedDevice {
  std::int64_t windows = 0, crossed = 0;
  double worst = 0;  // value of the worst window of the job
  // The members below are about the windows since the last scan.
  std::int64_t fresh = 0;
  std::optional<Time> from, to;  // begin and end of the windows that crossed
  double recent = 0;             // value of the worst of these windows

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

// The open window of a node.
struct NodeWindow {
  std::optional<Time> from;  // begin of the window
  std::map<std::string, WindowValues, std::less<>> devices;

  // Adds the row's value of each device, or the mean of all as the value of device "". At least one
  // device has a value.
  void Add(const std::vector<DeviceColumn>& columns, std::size_t row, bool per_device,
           Aggregation aggregation, std::int64_t window);

  template <typename State>
  void Fields(State& state) {
    state("from", from);
    state("devices", devices, [] { return WindowValues(); });
  }
};

}  // namespace stepscope
