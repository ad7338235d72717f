#include "agent/gpu/nvml_device.h"

#include <algorithm>
#include <utility>

#include "core/base/cpu_time.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// A counter of energy that takes more CPU time than this is not worth it: an H200 takes 3 ms, and
// its power, which is a mean over the last second, 1.4 us.
constexpr Duration kDearEnergy = 100us;

constexpr unsigned kMostInstances = 64;
constexpr std::size_t kFewProcesses = 16, kMostProcesses = 4096;

struct Field {
  GpuMetric metric;
  unsigned id, scope;
  std::uint64_t unit_bytes;
};

constexpr Field kFieldTable[] = {
    {GpuMetric::kPcieSend, nvml::kFieldPcieSend, 0, 1},
    {GpuMetric::kPcieReceive, nvml::kFieldPcieReceive, 0, 1},
    {GpuMetric::kNvlinkSend, nvml::kFieldNvlinkSend, nvml::kAllLinks, 1024},
    {GpuMetric::kNvlinkReceive, nvml::kFieldNvlinkReceive, nvml::kAllLinks, 1024},
};

constexpr std::size_t kPcieFields = 2;  // of kFieldTable, the first ones

bool IsFinal(nvml::Return result) {
  return result == nvml::kNotSupported || result == nvml::kNoPermission ||
         result == nvml::kFunctionNotFound;
}

double Share(bool held_down) {
  return held_down ? 100 : 0;
}

nvml::Device HandleOf(const NvmlLibrary& library, unsigned index) {
  nvml::Device handle = nullptr;
  return library.device(index, &handle) == nvml::kSuccess ? handle : nullptr;
}

// The names of a GPU's MIG instances in CUDA_VISIBLE_DEVICES. Their numbers may have holes.
std::vector<std::string> InstancesOf(const NvmlLibrary& library, nvml::Device device) {
  std::vector<std::string> names;
  unsigned most = 0;
  if (library.most_instances == nullptr || library.instance == nullptr || library.uuid == nullptr ||
      library.most_instances(device, &most) != nvml::kSuccess) {
    return names;
  }
  for (unsigned i = 0; i < std::min(most, kMostInstances); ++i) {
    nvml::Device instance = nullptr;
    char text[96] = {};
    if (library.instance(device, i, &instance) != nvml::kSuccess) continue;
    if (library.uuid(instance, text, sizeof text - 1) == nvml::kSuccess) names.emplace_back(text);
  }
  return names;
}

}  // namespace

NvmlDevice::NvmlDevice(const NvmlLibrary& library, unsigned index)
    : library_(library),
      index_(index),
      handle_(HandleOf(library, index)),
      lost_(handle_ == nullptr),
      gpm_(library, handle_) {}

bool NvmlDevice::Note(nvml::Return result) {
  if (result == nvml::kGpuIsLost) lost_ = true;
  return result == nvml::kSuccess;
}

template <typename... Parameters, typename... Arguments>
bool NvmlDevice::Ask(Probe probe, NvmlLibrary::Call<nvml::Device, Parameters...> call,
                     Arguments... arguments) {
  if (call == nullptr || lost_ || refused_[probe]) return false;
  const nvml::Return result = call(handle_, arguments...);
  if (IsFinal(result)) refused_.set(probe);
  return Note(result);
}

GpuFacts NvmlDevice::Facts() {
  GpuFacts facts{.device = Format("gpu{}", index_)};
  char text[96] = {};
  if (Ask(kName, library_.name, text, unsigned{sizeof text})) facts.name = text;
  if (Ask(kName, library_.uuid, text, unsigned{sizeof text})) facts.uuid = text;
  nvml::PciInfo pci{};
  if (Ask(kName, library_.pci, &pci)) facts.pci_address = pci.address;
  nvml::Memory2 memory;
  if (Ask(kMemory, library_.memory, &memory)) facts.memory_bytes = memory.total;
  unsigned current = 0, pending = 0;
  if (Ask(kName, library_.mig, &current, &pending)) facts.mig = current != 0;
  if (facts.mig.value_or(false)) facts.instances = InstancesOf(library_, handle_);
  RefuseDearEnergy();
  return facts;
}

// The second call decides: the first one may load what the later ones find.
void NvmlDevice::RefuseDearEnergy() {
  unsigned long long energy_mj = 0;
  unsigned mw = 0;
  if (!Ask(kPower, library_.power_mw, &mw) || !Ask(kEnergy, library_.energy_mj, &energy_mj)) return;
  const Duration before = ThreadCpuTime();
  if (Ask(kEnergy, library_.energy_mj, &energy_mj) && ThreadCpuTime() - before > kDearEnergy)
    refused_.set(kEnergy);
}

void NvmlDevice::Begin(GpuValues& values) {
  values.Clear();
  if (lost_) handle_ = HandleOf(library_, index_);
  lost_ = handle_ == nullptr;
}

void NvmlDevice::End(GpuValues& values) {
  if (lost_) values.Clear();
  LogWhetherLost();
}

void NvmlDevice::Read(NvmlReading kind, const SteadyNow& now, GpuValues& values) {
  switch (kind) {
    case NvmlReading::kUse:
      ReadUse(values);
      return ReadPower(now, values);
    case NvmlReading::kState:
      ReadMemory(values);
      ReadTemperature(values);
      return ReadReasons(values);
    case NvmlReading::kClocks:
      return ReadClocks(values);
    case NvmlReading::kErrors:
      return ReadErrors(values);
    case NvmlReading::kPcie:
      return ReadLinks(0, kPcieFields, now, values);
    case NvmlReading::kNvlink:
      return ReadLinks(kPcieFields, kFields, now, values);
    case NvmlReading::kProcessors:
      if (!lost_) gpm_.Read(handle_, now(), values);
      return;
    case NvmlReading::kXid:        // of all devices at once: NvmlXid
    case NvmlReading::kProcesses:  // ProcessesInto
      return;
  }
}

void NvmlDevice::LogWhetherLost() {
  if (std::exchange(logged_lost_, lost_) == lost_) return;
  if (lost_) {
    LogWarning("gpu{}: the GPU is lost", index_);
  } else {
    LogInfo("gpu{}: the GPU is back", index_);
  }
}

void NvmlDevice::ReadUse(GpuValues& values) {
  nvml::Utilization use{};
  if (Ask(kUse, library_.utilization, &use)) {
    values[GpuMetric::kUtil] = use.gpu;
    values[GpuMetric::kMemoryBusy] = use.memory;
  }
}

void NvmlDevice::ReadMemory(GpuValues& values) {
  nvml::Memory2 memory;
  if (Ask(kMemory, library_.memory, &memory)) {
    values.SetMemory(static_cast<double>(memory.used), static_cast<double>(memory.total));
  }
}

// The counter of energy is exact over any interval; the reading of power is a mean over a time of
// the driver's own.
void NvmlDevice::ReadPower(const SteadyNow& now, GpuValues& values) {
  unsigned long long energy_mj = 0;
  if (Ask(kEnergy, library_.energy_mj, &energy_mj)) {
    const auto mw = energy_mj_.Rate(energy_mj, now());
    if (mw) values[GpuMetric::kPower] = *mw / 1000;
    return;
  }
  unsigned mw = 0;
  if (Ask(kPower, library_.power_mw, &mw)) values[GpuMetric::kPower] = mw / 1000.0;
}

void NvmlDevice::ReadTemperature(GpuValues& values) {
  nvml::Temperature temperature;
  if (Ask(kHeat, library_.temperature, &temperature)) {
    values[GpuMetric::kTemperature] = temperature.celsius;
    return;
  }
  unsigned celsius = 0;
  if (Ask(kOldHeat, library_.old_temperature, nvml::kTemperatureGpu, &celsius)) {
    values[GpuMetric::kTemperature] = celsius;
  }
}

void NvmlDevice::ReadClocks(GpuValues& values) {
  unsigned mhz = 0;
  if (Ask(kSm, library_.clock_mhz, nvml::kClockSm, &mhz)) values[GpuMetric::kSmClock] = mhz;
  if (Ask(kMem, library_.clock_mhz, nvml::kClockMemory, &mhz)) {
    values[GpuMetric::kMemoryClock] = mhz;
  }
}

void NvmlDevice::ReadReasons(GpuValues& values) {
  unsigned long long reasons = 0;
  if (!Ask(kReasons, library_.clock_reasons, &reasons)) return;
  const bool power = (reasons & nvml::kPowerReasons) != 0;
  const bool slowed = (reasons & nvml::kHardwareSlowdown) != 0;
  const bool heat = (reasons & nvml::kThermalReasons) != 0 || (slowed && !power);
  values[GpuMetric::kPowerThrottle] = Share(power);
  values[GpuMetric::kThermalThrottle] = Share(heat);
}

void NvmlDevice::ReadErrors(GpuValues& values) {
  unsigned long long count = 0;
  if (Ask(kEcc, library_.ecc_errors, nvml::kUncorrected, nvml::kSinceDriverStart, &count))
    values[GpuMetric::kEccErrors] = static_cast<double>(count);
}

// Reads the fields of kFieldTable from `first` to before `end`.
void NvmlDevice::ReadLinks(std::size_t first, std::size_t end, const SteadyNow& now,
                           GpuValues& values) {
  if (library_.fields == nullptr || lost_ || fields_.refused.all()) return;
  std::array<std::size_t, kFields> asked{};
  int count = 0;
  for (std::size_t i = first; i < end; ++i) {
    if (fields_.refused[i] || gpm_.Tells(kFieldTable[i].metric)) continue;
    asked[count] = i;
    fields_.values[count++] = {.field = kFieldTable[i].id, .scope = kFieldTable[i].scope};
  }
  if (count == 0) return;
  const nvml::Return result = library_.fields(handle_, count, fields_.values.data());
  if (IsFinal(result)) fields_.refused.set();
  if (!Note(result)) return;
  const SteadyTime at = now();
  for (int i = 0; i < count; ++i) {
    const nvml::FieldValue& value = fields_.values[i];
    if (IsFinal(value.result)) fields_.refused.set(asked[i]);
    if (!Note(value.result)) continue;
    const bool small = value.type == nvml::kUnsigned;
    const Field& field = kFieldTable[asked[i]];
    const std::uint64_t total = small ? value.value.word : value.value.large;
    const auto rate = fields_.counters[asked[i]].Rate(total, at);
    if (rate) values[field.metric] = *rate * static_cast<double>(field.unit_bytes);
  }
}

void NvmlDevice::ProcessesInto(std::vector<GpuProcess>& processes) {
  if (library_.processes == nullptr || lost_ || refused_[kProcesses]) return;
  listed_.resize(std::max(listed_.size(), kFewProcesses));
  auto count = static_cast<unsigned>(listed_.size());
  nvml::Return result = library_.processes(handle_, &count, listed_.data());
  if (result == nvml::kInsufficientSize) {
    // Leaves room for processes that start before the second call.
    listed_.resize(std::min<std::size_t>(2ull * count, kMostProcesses));
    count = static_cast<unsigned>(listed_.size());
    result = library_.processes(handle_, &count, listed_.data());
  }
  if (IsFinal(result)) refused_.set(kProcesses);
  if (!Note(result)) return;
  for (std::size_t i = 0; i < std::min<std::size_t>(count, listed_.size()); ++i) {
    const nvml::NvmlProcessMemory& one = listed_[i];
    // In a container the driver may leave out which process it is.
    if (one.pid != 0 && one.used != nvml::kUnknownMemory) processes.push_back({one.pid, one.used});
  }
}

}  // namespace stepscope
