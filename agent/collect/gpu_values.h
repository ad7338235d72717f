#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/tick_row.h"

namespace stepscope {

// The readings of a GPU of any vendor; kGpuMetricNames has the names in the same order.
enum class GpuMetric : std::uint8_t {
  kUtil,
  kMemoryBusy,
  kMemoryUsedPercent,
  kMemoryUsed,
  kMemoryTotal,
  kPower,
  kTemperature,
  kSmClock,
  kMemoryClock,
  kPowerThrottle,
  kThermalThrottle,
  kPcieReceive,
  kPcieSend,
  kPcieLink,
  kNvlinkReceive,
  kNvlinkSend,
  kEccErrors,
  kXidErrors,
  kSmActive,
  kSmOccupancy,
  kTensorActive,
  kDramActive,
};

inline constexpr std::string_view kGpuMetricNames[] = {
    "gpu_util_percent",
    "gpu_memory_busy_percent",
    "gpu_memory_used_percent",
    "gpu_memory_used_bytes",
    "gpu_memory_total_bytes",
    "gpu_power_watts",
    "gpu_temperature_celsius",
    "gpu_sm_clock_mhz",
    "gpu_memory_clock_mhz",
    "gpu_power_throttle_percent",
    "gpu_thermal_throttle_percent",
    "gpu_pcie_receive_bytes_per_second",
    "gpu_pcie_send_bytes_per_second",
    "gpu_pcie_link_bytes_per_second",
    "gpu_nvlink_receive_bytes_per_second",
    "gpu_nvlink_send_bytes_per_second",
    "gpu_ecc_errors",
    "gpu_xid_errors",
    "gpu_sm_active_percent",
    "gpu_sm_occupancy_percent",
    "gpu_tensor_active_percent",
    "gpu_dram_active_percent",
};
inline constexpr std::size_t kGpuMetrics = std::size(kGpuMetricNames);
static_assert(static_cast<std::size_t>(GpuMetric::kDramActive) + 1 == kGpuMetrics);

// One reading of one GPU; NaN for a missing value.
class GpuValues {
 public:
  GpuValues() { Clear(); }

  void Clear() { values_.fill(std::numeric_limits<double>::quiet_NaN()); }
  double& operator[](GpuMetric metric) { return values_[static_cast<std::size_t>(metric)]; }
  double operator[](GpuMetric metric) const { return values_[static_cast<std::size_t>(metric)]; }

  // Takes the values that the other reading has.
  void Overlay(const GpuValues& newer) {
    for (std::size_t i = 0; i < kGpuMetrics; ++i) {
      if (!std::isnan(newer.values_[i])) values_[i] = newer.values_[i];
    }
  }

  void SetMemory(double used_bytes, double total_bytes) {
    (*this)[GpuMetric::kMemoryUsed] = used_bytes;
    (*this)[GpuMetric::kMemoryTotal] = total_bytes;
    (*this)[GpuMetric::kMemoryUsedPercent] = 100 * used_bytes / total_bytes;
  }

 private:
  std::array<double, kGpuMetrics> values_;
};

// The columns of one GPU. A metric gets a column with its first value, so that metrics which a GPU
// does not have take no room.
class GpuColumns {
 public:
  explicit GpuColumns(std::string device) : device_(std::move(device)) {
    columns_.fill(TickRow::kNoColumn);
  }

  void Set(const GpuValues& values, TickRow& row) {
    for (std::size_t i = 0; i < kGpuMetrics; ++i) {
      const double value = values[static_cast<GpuMetric>(i)];
      if (!std::isfinite(value)) continue;
      if (columns_[i] == TickRow::kNoColumn) columns_[i] = row.Add(kGpuMetricNames[i], device_);
      row.Set(columns_[i], value);
    }
  }

 private:
  std::string device_;
  std::array<std::size_t, kGpuMetrics> columns_;
};

// How much memory of one GPU a process holds.
struct GpuProcess {
  std::int64_t pid = 0;  // in our PID namespace
  std::uint64_t bytes = 0;

  bool operator==(const GpuProcess&) const = default;
};

enum class GpuVendor : std::uint8_t { kNvidia, kAmd, kIntel };

// Facts of a GPU, for its node.
struct GpuFacts {
  std::string device;  // name in the samples: gpu0
  std::string name{};
  std::uint64_t memory_bytes = 0;
  std::string uuid{};  // empty: unknown, as the fields below
  std::string pci_address{};
  std::optional<bool> mig{};  // split into instances or not; nothing where a GPU cannot be
  std::vector<std::string> instances{};  // names of the instances: MIG-...
  GpuVendor vendor = GpuVendor::kNvidia;
  std::size_t tiles = 1;  // Intel's masks may count these
};

}  // namespace stepscope
