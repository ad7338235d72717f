#pragma once

#include <memory>

#include "agent/collect/gpu_values.h"
#include "agent/gpu/nvml_library.h"
#include "core/base/time.h"

namespace stepscope {

// Activity of a GPU's processors, and the bytes of its PCIe link, from Hopper on. Values are means
// between two samples of the driver. For one thread; the calls may block.
class NvmlGpm {
 public:
  NvmlGpm(const NvmlLibrary& library, nvml::Device device);

  // Sets nothing where the GPU has no such counters, and at the first call. A call within 100 ms of
  // the previous sample, which is too early for the driver, sets the previous values again.
  void Read(nvml::Device device, SteadyTime now, GpuValues& values);

  // Whether this metric came with the newest sample, so that nothing else need be asked for it.
  bool Tells(GpuMetric metric) const;

 private:
  struct Free {
    NvmlLibrary::Call<nvml::GpmSample> call;
    void operator()(nvml::GpmSample sample) const { call(sample); }
  };
  using Sample = std::unique_ptr<nvml::GpmSampleTag, Free>;

  bool NewSample(nvml::Device device, SteadyTime now);

  const NvmlLibrary& library_;
  std::unique_ptr<nvml::GpmMetrics> metrics_;  // large; null where the GPU has no such counters
  Sample before_, after_;
  bool sampled_ = false, known_ = false;
  SteadyTime at_{};
};

}  // namespace stepscope
