#pragma once

#include <span>
#include <vector>

#include "agent/gpu/nvml_device.h"

namespace stepscope {

// Counts and logs critical errors (XID) that the driver reports. For one thread.
class NvmlXid {
 public:
  // Watches the GPUs whose driver can report errors.
  NvmlXid(const NvmlLibrary& library, std::span<const NvmlDevice> devices);

  // Sets the count of each device, in the order of the devices. Does not wait.
  void Read(std::span<const NvmlDevice> devices, std::span<GpuValues> values);

 private:
  void Take(const nvml::EventData& event, std::span<const NvmlDevice> devices);

  const NvmlLibrary& library_;
  nvml::EventSet events_ = nullptr;
  std::vector<double> counts_;  // NaN: not watched
};

}  // namespace stepscope
