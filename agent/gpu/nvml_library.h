#pragma once

#include <string>

#include "agent/gpu/nvml_api.h"
#include "core/base/result.h"

namespace stepscope {

// The functions of libnvidia-ml.so.1, loaded when the agent starts, because few nodes have it. The
// first group is always there; any other function is null where the driver is too old or too new
// for it.
struct NvmlLibrary {
  template <typename... Parameters>
  using Call = nvml::Return (*)(Parameters...);

  Call<> init, shutdown;
  Call<unsigned*> count;
  Call<unsigned, nvml::Device*> device;

  const char* (*error_text)(nvml::Return);
  Call<nvml::Device, char*, unsigned> name, uuid;
  Call<nvml::Device, nvml::PciInfo*> pci;
  Call<nvml::Device, unsigned*, unsigned*> mig;
  Call<nvml::Device, unsigned*> most_instances;
  Call<nvml::Device, unsigned, nvml::Device*> instance;
  Call<nvml::Device, nvml::Utilization*> utilization;
  Call<nvml::Device, nvml::Memory2*> memory;
  Call<nvml::Device, unsigned*> power_mw;
  Call<nvml::Device, unsigned long long*> energy_mj;
  Call<nvml::Device, nvml::Temperature*> temperature;
  Call<nvml::Device, unsigned, unsigned*> old_temperature;
  Call<nvml::Device, unsigned, unsigned*> clock_mhz;
  Call<nvml::Device, unsigned long long*> clock_reasons;
  Call<nvml::Device, unsigned, unsigned, unsigned long long*> ecc_errors;
  Call<nvml::Device, int, nvml::FieldValue*> fields;
  Call<nvml::Device, unsigned*, nvml::NvmlProcessMemory*> processes;

  Call<nvml::EventSet*> event_set;
  Call<nvml::Device, unsigned long long, nvml::EventSet> watch;
  Call<nvml::EventSet, nvml::EventData*, unsigned> next_event;

  Call<nvml::Device, nvml::GpmSupport*> gpm_support;
  Call<nvml::GpmSample*> gpm_new_sample;
  Call<nvml::GpmSample> gpm_free_sample;
  Call<nvml::Device, nvml::GpmSample> gpm_read;
  Call<nvml::GpmMetrics*> gpm_metrics;

  std::string ErrorText(nvml::Return result) const;
};

inline constexpr const char* kNvmlName = "libnvidia-ml.so.1";

// Loads this file, or the first library of that name that the system's loader finds. Never unloads
// it: a call into it may outlive its caller.
Result<NvmlLibrary> LoadNvml(const std::string& file);

}  // namespace stepscope
