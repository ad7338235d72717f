#pragma once

#include <array>
#include <bitset>
#include <cstdint>
#include <functional>
#include <vector>

#include "agent/collect/counter.h"
#include "agent/collect/gpu_values.h"
#include "agent/collect/reading_plan.h"
#include "agent/gpu/nvml_gpm.h"
#include "agent/gpu/nvml_library.h"
#include "core/base/time.h"

namespace stepscope {

// Returns the current time. A reading thread owns a copy, because it may be left behind.
using SteadyNow = std::function<SteadyTime()>;

// What of a GPU is read together, and how often at most; kNvmlReadings has the periods in the same
// order. docs/agent.md has what the calls cost.
enum class NvmlReading : std::uint8_t {
  kUse,
  kState,
  kClocks,
  kErrors,
  kPcie,
  kNvlink,
  kProcessors,
  kXid,
  kProcesses
};
inline constexpr ReadingKind kNvmlReadings[] = {
    {"use and power", 0s, 16},
    {"memory, temperature and throttling", 1s, 8},
    {"clocks", 5s},
    {"memory errors", 10s},
    {"PCIe bytes", 1s},
    {"NVLink bytes", 1s},
    {"processor counters", 1s},
    {"XID errors", 2s},
    {"memory of processes", 4s},
};

// One GPU of NVML. A value that it does not support, or that we may not read, stays missing and is
// not asked for again; all values of a lost GPU are missing until it is back. For one thread; every
// call may block. `library` outlives it.
class NvmlDevice {
 public:
  NvmlDevice(const NvmlLibrary& library, unsigned index);

  // Also finds out what the calls cost that may be dear. Called once, first.
  GpuFacts Facts();

  // A reading is Begin, the kinds that are due, and End. Begin finds a GPU again that was lost; End
  // clears the values of one that is lost.
  void Begin(GpuValues& values);
  void End(GpuValues& values);

  // Rates are over the time since the previous reading of this kind, and missing at the first one
  // and when a counter ran backwards or wrapped. A driver may be slow in each call, so `now` is
  // called behind the reading of each counter.
  void Read(NvmlReading kind, const SteadyNow& now, GpuValues& values);

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
  void ReadMemory(GpuValues& values);
  void ReadPower(const SteadyNow& now, GpuValues& values);
  void ReadTemperature(GpuValues& values);
  void ReadReasons(GpuValues& values);
  void ReadClocks(GpuValues& values);
  void ReadErrors(GpuValues& values);
  void ReadLinks(std::size_t first, std::size_t end, const SteadyNow& now, GpuValues& values);
  void RefuseDearEnergy();
  void LogWhetherLost();

  const NvmlLibrary& library_;
  const unsigned index_;
  nvml::Device handle_ = nullptr;
  bool lost_ = false, logged_lost_ = false;
  std::bitset<kName + 1> refused_;
  Counter energy_mj_;
  Fields fields_;
  std::vector<nvml::NvmlProcessMemory> listed_;
  NvmlGpm gpm_;
};

}  // namespace stepscope
