#include "agent/gpu/nvml_cost.h"

#include <algorithm>
#include <array>
#include <memory>

#include "agent/gpu/nvml_library.h"
#include "core/base/clock.h"
#include "core/base/cpu_time.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kTimes = 11;
constexpr unsigned kMostGpus = 64;

nvml::Return AskField(const NvmlLibrary& library, nvml::Device device, unsigned id,
                      unsigned scope) {
  nvml::FieldValue value{.field = id, .scope = scope};
  const nvml::Return result = library.fields(device, 1, &value);
  return result == nvml::kSuccess ? value.result : result;
}

// The median cost of some calls, the clocks' own included.
template <typename Make>
DriverCallCost Median(const Make& make) {
  DriverCallCost cost;
  std::array<Duration, kTimes> cpu, wall;
  for (int i = 0; i < kTimes; ++i) {
    const Duration cpu_before = ThreadCpuTime();
    const SteadyTime before = SystemClock().Steady();
    cost.works = make() == nvml::kSuccess;
    wall[i] = SystemClock().Steady() - before;
    cpu[i] = ThreadCpuTime() - cpu_before;
  }
  std::ranges::nth_element(cpu, cpu.begin() + kTimes / 2);
  std::ranges::nth_element(wall, wall.begin() + kTimes / 2);
  cost.cpu = cpu[kTimes / 2];
  cost.wall = wall[kTimes / 2];
  return cost;
}

class CallMeter {
 public:
  CallMeter(const NvmlLibrary& library, nvml::Device device)
      : library_(library), device_(device), nothing_(Median([] { return nvml::kSuccess; })) {}

  // `function` is null where the driver does not have the call.
  template <typename Function, typename Make>
  void Measure(const char* call, Function function, const Make& make) {
    if (function == nullptr) return;
    make();  // may load what the others find
    DriverCallCost cost = Median(make);
    cost.call = call;
    cost.cpu -= std::min(cost.cpu, nothing_.cpu);
    cost.wall -= std::min(cost.wall, nothing_.wall);
    costs_.push_back(std::move(cost));
  }

  void MeasureValues() {
    nvml::Utilization use{};
    nvml::Memory2 memory;
    nvml::Temperature heat;
    unsigned number = 0;
    unsigned long long large = 0;
    const auto& nvml = library_;
    Measure("GetUtilizationRates", nvml.utilization,
            [&] { return nvml.utilization(device_, &use); });
    Measure("GetMemoryInfo_v2", nvml.memory, [&] { return nvml.memory(device_, &memory); });
    Measure("GetPowerUsage", nvml.power_mw, [&] { return nvml.power_mw(device_, &number); });
    Measure("GetTotalEnergyConsumption", nvml.energy_mj,
            [&] { return nvml.energy_mj(device_, &large); });
    Measure("GetTemperatureV", nvml.temperature, [&] { return nvml.temperature(device_, &heat); });
    Measure("GetTemperature", nvml.old_temperature,
            [&] { return nvml.old_temperature(device_, nvml::kTemperatureGpu, &number); });
    Measure("GetClockInfo", nvml.clock_mhz,
            [&] { return nvml.clock_mhz(device_, nvml::kClockSm, &number); });
    Measure("GetCurrentClocksEventReasons", nvml.clock_reasons,
            [&] { return nvml.clock_reasons(device_, &large); });
    Measure("GetTotalEccErrors", nvml.ecc_errors, [&] {
      return nvml.ecc_errors(device_, nvml::kUncorrected, nvml::kSinceDriverStart, &large);
    });
    Measure("GetMigMode", nvml.mig, [&] {
      unsigned pending = 0;
      return nvml.mig(device_, &number, &pending);
    });
    std::array<nvml::NvmlProcessMemory, 256> processes{};
    Measure("GetComputeRunningProcesses_v3", nvml.processes, [&] {
      number = processes.size();
      return nvml.processes(device_, &number, processes.data());
    });
  }

  void MeasureFields() {
    const auto& fields = library_.fields;
    Measure("GetFieldValues, NVLink bytes", fields,
            [&] { return AskField(library_, device_, nvml::kFieldNvlinkSend, nvml::kAllLinks); });
    Measure("GetFieldValues, PCIe bytes", fields,
            [&] { return AskField(library_, device_, nvml::kFieldPcieSend, 0); });
  }

  void MeasureGpm() {
    if (library_.gpm_new_sample == nullptr || library_.gpm_free_sample == nullptr) return;
    nvml::GpmSample before = nullptr, after = nullptr;
    const bool made = library_.gpm_new_sample(&before) == nvml::kSuccess &&
                      library_.gpm_new_sample(&after) == nvml::kSuccess;
    if (made && library_.gpm_read != nullptr && library_.gpm_metrics != nullptr) {
      Measure("GpmSampleGet", library_.gpm_read,
              [&] { return library_.gpm_read(device_, before); });
      library_.gpm_read(device_, after);
      const auto metrics = std::make_unique<nvml::GpmMetrics>();
      metrics->count = 1;
      metrics->metrics[0].id = 2;
      metrics->before = before;
      metrics->after = after;
      Measure("GpmMetricsGet", library_.gpm_metrics,
              [&] { return library_.gpm_metrics(metrics.get()); });
    }
    for (const nvml::GpmSample sample : {before, after}) {
      if (sample != nullptr) library_.gpm_free_sample(sample);
    }
  }

  void MeasureEvents() {
    nvml::EventSet events = nullptr;
    if (library_.event_set == nullptr || library_.watch == nullptr ||
        library_.event_set(&events) != nvml::kSuccess ||
        library_.watch(device_, nvml::kEventXid, events) != nvml::kSuccess) {
      return;
    }
    nvml::EventData event{};
    Measure("EventSetWait_v2", library_.next_event, [&] {
      const nvml::Return result = library_.next_event(events, &event, 0);
      return result == nvml::kTimeout ? nvml::kSuccess : result;
    });
  }

  std::vector<DriverCallCost> Take() { return std::move(costs_); }

 private:
  const NvmlLibrary& library_;
  const nvml::Device device_;
  const DriverCallCost nothing_;
  std::vector<DriverCallCost> costs_;
};

}  // namespace

Result<std::vector<DriverCallCost>> MeasureNvmlCalls(const std::string& library) {
  const auto nvml = LoadNvml(library);
  if (!nvml) return nvml.error();
  if (const nvml::Return begun = nvml->init(); begun != nvml::kSuccess)
    return Unavailable(Format("NVML: {}", nvml->ErrorText(begun)));
  unsigned count = 0;
  nvml::Device device = nullptr;
  if (nvml->count(&count) != nvml::kSuccess) count = 0;
  for (unsigned i = 0; i < std::min(count, kMostGpus) && device == nullptr; ++i) {
    if (nvml->device(i, &device) != nvml::kSuccess) device = nullptr;
  }
  std::vector<DriverCallCost> costs;
  if (device != nullptr) {
    CallMeter meter(*nvml, device);
    meter.MeasureValues();
    meter.MeasureFields();
    meter.MeasureGpm();
    meter.MeasureEvents();
    costs = meter.Take();
  }
  nvml->shutdown();
  if (device == nullptr) return NotFound("NVML shows no device");
  return costs;
}

}  // namespace stepscope
