#pragma once

#include <span>
#include <vector>

#include "agent/gpu/nvml_device.h"

namespace stepscope {

// Critical errors (XID) that the driver reports: each is logged and counted. For one thread.
class NvmlXid {
 public:
  // Where the driver or a GPU cannot report them, they are not counted.
  NvmlXid(const NvmlLibrary& library, std::span<const NvmlDevice> devices);

  // Sets the count of each device, in the order of the devices. Waits for nothing.
  void Read(std::span<const NvmlDevice> devices, std::span<GpuValues> values);

 private:
  void Take(const nvml::EventData& event, std::span<const NvmlDevice> devices);

  const NvmlLibrary& library_;
  nvml::EventSet events_ = nullptr;
  std::vector<double> counts_;  // NaN: not watched
};

}  // namespace stepscope
