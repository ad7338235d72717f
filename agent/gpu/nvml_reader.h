#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "agent/collect/gpu_values.h"
#include "agent/gpu/nvml_device.h"
#include "agent/gpu/nvml_library.h"
#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// How long callers wait for NVML. Tests have more time.
struct NvmlPatience {
  Duration start = 2s;
  Duration reading = 50ms;
  Duration end = 1s;
};

// Reads all GPUs on a thread of its own, because a call into the driver may never return. Await
// waits for at most the patience, and not at all while an earlier reading is still in progress. A
// thread that hangs is left behind: it owns the objects that it uses. For one thread.
class NvmlReader {
 public:
  // Fails when NVML fails or has no GPU. A driver that has not started in time is waited for in the
  // background.
  static Result<std::unique_ptr<NvmlReader>> Start(const NvmlLibrary& library,
                                                   const NvmlPatience& patience, SteadyNow steady);
  ~NvmlReader();
  NvmlReader(const NvmlReader&) = delete;
  NvmlReader& operator=(const NvmlReader&) = delete;

  // Requests a reading for `now`, and returns at once. Its rates are over the time until the driver
  // answered.
  void Ask(SteadyTime now);

  // Waits for that reading, or until the end of the patience.
  void Await();

  // Calls use() with the newest reading; returns the reading's time, nothing before the first one.
  // What is not due in each reading is missing in the others.
  using Use = std::function<void(std::span<const GpuValues>)>;
  std::optional<SteadyTime> Newest(const Use& use) const;

  // Adds the processes that hold memory of the GPUs. They are listed every few seconds, after the
  // reading that a tick waits for; none when the newest list is old.
  void ProcessesInto(SteadyTime now, std::vector<GpuProcess>& processes) const;

  // What all readings may cost from now on, in CPU seconds a second; and those that are done more
  // seldom than kNvmlReadings says to keep to it.
  void KeepWithin(double core_share);
  std::vector<SlowedReading> Slowed() const;

  // The reason why NVML did not start, when that was known late.
  std::optional<Error> Failure() const;

  // The GPUs; empty as long as NVML starts.
  std::vector<GpuFacts> Gpus() const;

 private:
  struct Shared;

  NvmlReader(std::shared_ptr<Shared> shared, const NvmlPatience& patience);

  static void Run(Shared& shared);
  static void Serve(Shared& shared, std::span<NvmlDevice> devices);
  static void Publish(Shared& shared, SteadyTime of, std::span<const GpuValues> values);
  static void ListProcesses(Shared& shared, std::span<NvmlDevice> devices, SteadyTime of,
                            std::vector<GpuProcess>& processes);

  std::shared_ptr<Shared> shared_;
  bool awaits_ = false;
  const NvmlPatience patience_;
};

}  // namespace stepscope
