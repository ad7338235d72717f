#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <vector>

#include "agent/collect/counter.h"
#include "agent/collect/gpu_values.h"
#include "agent/gpu/nvml_gpm.h"
#include "agent/gpu/nvml_library.h"
#include "core/base/time.h"

namespace stepscope {

// Returns the current time. A reading thread owns a copy, because it may be left behind.
using SteadyNow = std::function<SteadyTime()>;

// One GPU of NVML. A value that it does not support, or that we may not read, stays missing and is
// not asked for again; all values of a lost GPU are missing until it is back. For one thread; every
// call may block. `library` outlives it.
class NvmlDevice {
 public:
  NvmlDevice(const NvmlLibrary& library, unsigned index);

  GpuFacts Facts();

  // Rates are over the time since the previous call, and missing at the first one and when a
  // counter ran backwards or wrapped. A driver may be slow in each call, so `now` is called behind
  // the reading of each counter.
  void Read(const SteadyNow& now, GpuValues& values);

  // Adds the processes that hold memory of this GPU. May take long.
  void ProcessesInto(std::vector<GpuProcess>& processes);

  unsigned index() const { return index_; }
  nvml::Device handle() const { return handle_; }

 private:
  enum Probe {
    kUse,
    kMemory,
    kEnergy,
    kPower,
    kHeat,
    kOldHeat,
    kSm,
    kMem,
    kReasons,
    kEcc,
    kProcesses,
    kName
  };
  static constexpr std::size_t kFields = 4;

  struct Fields {
    std::array<nvml::FieldValue, kFields> values{};
    std::array<Counter, kFields> counters{};
    std::bitset<kFields> refused;
  };

  template <typename... Parameters, typename... Arguments>
  bool Ask(Probe probe, NvmlLibrary::Call<nvml::Device, Parameters...> call,
           Arguments... arguments);
  bool Note(nvml::Return result);

  void ReadUse(GpuValues& values);
  void ReadPower(const SteadyNow& now, GpuValues& values);
  void ReadTemperature(GpuValues& values);
  void ReadClocks(GpuValues& values);
  void ReadErrors(const SteadyNow& now, GpuValues& values);
  void ReadLinks(const SteadyNow& now, GpuValues& values);
  void LogWhetherLost();

  const NvmlLibrary& library_;
  const unsigned index_;
  nvml::Device handle_ = nullptr;
  bool lost_ = false, logged_lost_ = false;
  std::bitset<kName + 1> refused_;
  Counter energy_mj_;
  Fields fields_;
  std::vector<nvml::NvmlProcessMemory> listed_;
  SteadyTime next_errors_{};
  double ecc_errors_ = std::numeric_limits<double>::quiet_NaN();
  NvmlGpm gpm_;
};

}  // namespace stepscope
