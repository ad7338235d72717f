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

// How long others wait for NVML. Tests have more time.
struct NvmlPatience {
  Duration start = 2s;
  Duration reading = 50ms;
  Duration end = 1s;
};

// Reads all GPUs on a thread of its own, because a call into the driver may never return. Whoever
// awaits the answer waits for at most the patience, and not at all while an earlier reading is
// still on its way. A thread that hangs is left behind: it owns what it touches. For one thread.
class NvmlReader {
 public:
  // Fails when NVML does, or has no GPU. One that has not started in time is asked all the same.
  static Result<std::unique_ptr<NvmlReader>> Start(const NvmlLibrary& library,
                                                   const NvmlPatience& patience, SteadyNow steady);
  ~NvmlReader();
  NvmlReader(const NvmlReader&) = delete;
  NvmlReader& operator=(const NvmlReader&) = delete;

  // Asks for a reading of `now`, and comes back at once. Its rates are over the time until the
  // driver answered.
  void Ask(SteadyTime now);

  // Until the answer to that, or the end of the patience.
  void Await();

  // Calls use() with the newest reading; says of when it is, nothing before the first one.
  using Use = std::function<void(std::span<const GpuValues>)>;
  std::optional<SteadyTime> Newest(const Use& use) const;

  // Adds the processes that hold memory of the GPUs. They are read every few seconds, and after the
  // answer that a tick waits for; none where the newest list is old.
  void ProcessesInto(SteadyTime now, std::vector<GpuProcess>& processes) const;

  // Why NVML did not start, when that came out late.
  std::optional<Error> Failure() const;

  // Empty as long as NVML starts.
  std::vector<GpuFacts> Gpus() const;

 private:
  struct Shared;

  NvmlReader(std::shared_ptr<Shared> shared, const NvmlPatience& patience);

  static void Run(Shared& shared);
  static void Serve(Shared& shared, std::span<NvmlDevice> devices);
  static void ListProcesses(Shared& shared, std::span<NvmlDevice> devices, SteadyTime of,
                            std::vector<GpuProcess>& processes);

  std::shared_ptr<Shared> shared_;
  bool awaits_ = false;
  const NvmlPatience patience_;
};

}  // namespace stepscope
