#include "agent/gpu/nvml_library.h"

#include <dlfcn.h>

#include "core/base/text.h"

namespace stepscope {
namespace {

template <typename Function>
bool Find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

void FindDevice(void* library, NvmlLibrary& nvml) {
  Find(library, "nvmlErrorString", nvml.error_text);
  Find(library, "nvmlDeviceGetName", nvml.name);
  Find(library, "nvmlDeviceGetUUID", nvml.uuid);
  Find(library, "nvmlDeviceGetPciInfo_v3", nvml.pci);
  Find(library, "nvmlDeviceGetMigMode", nvml.mig);
  Find(library, "nvmlDeviceGetMaxMigDeviceCount", nvml.most_instances);
  Find(library, "nvmlDeviceGetMigDeviceHandleByIndex", nvml.instance);
  Find(library, "nvmlDeviceGetUtilizationRates", nvml.utilization);
  Find(library, "nvmlDeviceGetMemoryInfo_v2", nvml.memory);
  Find(library, "nvmlDeviceGetPowerUsage", nvml.power_mw);
  Find(library, "nvmlDeviceGetTotalEnergyConsumption", nvml.energy_mj);
  Find(library, "nvmlDeviceGetTemperatureV", nvml.temperature);
  Find(library, "nvmlDeviceGetTemperature", nvml.old_temperature);
  Find(library, "nvmlDeviceGetClockInfo", nvml.clock_mhz);
  if (!Find(library, "nvmlDeviceGetCurrentClocksEventReasons", nvml.clock_reasons)) {
    Find(library, "nvmlDeviceGetCurrentClocksThrottleReasons", nvml.clock_reasons);
  }
  Find(library, "nvmlDeviceGetTotalEccErrors", nvml.ecc_errors);
  Find(library, "nvmlDeviceGetFieldValues", nvml.fields);
  Find(library, "nvmlDeviceGetComputeRunningProcesses_v3", nvml.processes);
}

void FindEventsAndGpm(void* library, NvmlLibrary& nvml) {
  Find(library, "nvmlEventSetCreate", nvml.event_set);
  Find(library, "nvmlDeviceRegisterEvents", nvml.watch);
  Find(library, "nvmlEventSetWait_v2", nvml.next_event);
  Find(library, "nvmlGpmQueryDeviceSupport", nvml.gpm_support);
  Find(library, "nvmlGpmSampleAlloc", nvml.gpm_new_sample);
  Find(library, "nvmlGpmSampleFree", nvml.gpm_free_sample);
  Find(library, "nvmlGpmSampleGet", nvml.gpm_read);
  Find(library, "nvmlGpmMetricsGet", nvml.gpm_metrics);
}

}  // namespace

std::string NvmlLibrary::ErrorText(nvml::Return result) const {
  const char* text = error_text != nullptr ? error_text(result) : nullptr;
  return text != nullptr ? Printable(text) : Format("error {}", static_cast<int>(result));
}

Result<NvmlLibrary> LoadNvml(const std::string& file) {
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
  if (library == nullptr) {
    const char* why = dlerror();
    const std::string reason = why != nullptr ? Printable(why) : "";
    const bool missing = reason.find("No such file") != reason.npos;
    return missing ? NotFound(Format("{} not found", kNvmlName)) : Unavailable(reason);
  }
  NvmlLibrary nvml{};
  // Every name has its version: without one it is an older function.
  const bool usable = Find(library, "nvmlInit_v2", nvml.init) &&
                      Find(library, "nvmlShutdown", nvml.shutdown) &&
                      Find(library, "nvmlDeviceGetCount_v2", nvml.count) &&
                      Find(library, "nvmlDeviceGetHandleByIndex_v2", nvml.device);
  if (!usable) return Unavailable(Format("{} is no NVML that the agent knows", kNvmlName));
  FindDevice(library, nvml);
  FindEventsAndGpm(library, nvml);
  return nvml;
}

}  // namespace stepscope
