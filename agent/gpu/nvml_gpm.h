#pragma once

#include <memory>

#include "agent/collect/gpu_values.h"
#include "agent/gpu/nvml_library.h"
#include "core/base/time.h"

namespace stepscope {

// What the processors of one GPU do, from Hopper on. Values are means between two samples of the
// driver. For one thread; the calls may block.
class NvmlGpm {
 public:
  NvmlGpm(const NvmlLibrary& library, nvml::Device device);

  // Sets nothing where the GPU has no such counters, and at the first call. What comes less than
  // 100 ms after the sample before, which is too little for the driver, says the same again.
  void Read(nvml::Device device, SteadyTime now, GpuValues& values);

 private:
  struct Free {
    NvmlLibrary::Call<nvml::GpmSample> call;
    void operator()(nvml::GpmSample sample) const { call(sample); }
  };
  using Sample = std::unique_ptr<nvml::GpmSampleTag, Free>;

  bool NewSample(nvml::Device device, SteadyTime now);

  const NvmlLibrary& library_;
  std::unique_ptr<nvml::GpmMetrics> metrics_;  // large; null where there is nothing to read
  Sample before_, after_;
  bool sampled_ = false, known_ = false;
  SteadyTime at_{};
};

}  // namespace stepscope
