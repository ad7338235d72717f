#include "agent/gpu/nvml_reader.h"

#include <atomic>
#include <utility>

#include "agent/collect/series.h"
#include "agent/gpu/nvml_device.h"
#include "agent/gpu/nvml_xid.h"
#include "core/base/clock.h"
#include "core/base/cpu_time.h"
#include "core/base/detached_thread.h"
#include "core/base/guarded.h"
#include "core/base/log.h"
#include "core/base/text.h"
#include "core/base/wake_event.h"

namespace stepscope {

// Owned by the reader and its thread; the last of them frees it.
struct NvmlReader::Shared {
  struct Request {
    SteadyTime of, at;  // time of the tick, and of `steady` then
  };
  struct State {
    bool stop = false, started = false, ended = false;
    std::optional<Request> asked;  // set until that reading is done
    std::optional<SteadyTime> read;
    bool shown = true;             // the newest reading was used by a tick
    std::optional<Error> failure;  // error of the start
    std::vector<GpuFacts> gpus;
    std::vector<GpuValues> values;
    std::vector<GpuProcess> processes;
    std::optional<SteadyTime> listed;  // tick of the list of processes
    std::vector<SlowedReading> slowed;
  };

  const NvmlLibrary library;
  const SteadyNow steady;
  std::atomic<double> core_share = kUsualCoreShare;
  Guarded<State> state{};
  WakeEvent asked{}, answered{};
};

namespace {

constexpr Duration kProcessesGoodFor = 12s;

Result<unsigned> CountGpus(const NvmlLibrary& library) {
  const nvml::Return started = library.init();
  if (started != nvml::kSuccess) {
    return Unavailable(Format("NVML: {}", library.ErrorText(started)));
  }
  unsigned count = 0;
  const nvml::Return counted = library.count(&count);
  if (counted != nvml::kSuccess) {
    return Unavailable(Format("NVML: {}", library.ErrorText(counted)));
  }
  if (count == 0) return NotFound("NVML knows no device");
  return count;
}

constexpr NvmlReading kOfEachDevice[] = {
    NvmlReading::kUse,        NvmlReading::kState, NvmlReading::kClocks, NvmlReading::kErrors,
    NvmlReading::kProcessors, NvmlReading::kPcie,  NvmlReading::kNvlink};

// The driver counts all GPUs of the node, but a job of a batch system may see only its own.
bool IsHidden(const NvmlLibrary& library, unsigned index) {
  nvml::Device handle = nullptr;
  return library.device(index, &handle) == nvml::kNoPermission;
}

}  // namespace

// Lists processes after the answer: the driver may take long to walk all its clients.
void NvmlReader::ListProcesses(Shared& shared, std::span<NvmlDevice> devices, SteadyTime of,
                               std::vector<GpuProcess>& processes) {
  processes.clear();
  for (NvmlDevice& device : devices) device.ProcessesInto(processes);
  shared.state.Change([&](auto& state) {
    state.processes = processes;
    state.listed = of;
  });
}

// Values that no tick has shown yet stay, unless there are newer ones: the next reading may leave
// out what was read seldom and late.
void NvmlReader::Publish(Shared& shared, SteadyTime of, std::span<const GpuValues> values) {
  shared.state.Change([&](auto& state) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (state.shown) state.values[i].Clear();
      state.values[i].Overlay(values[i]);
    }
    state.shown = false;
    state.read = of;
    state.asked.reset();
  });
  shared.answered.Ring();
}

// The thread's loop, until the stop. No lock is held during a call into NVML.
void NvmlReader::Serve(Shared& shared, std::span<NvmlDevice> devices) {
  NvmlXid xid(shared.library, devices);
  std::vector<GpuValues> values(devices.size());
  std::vector<GpuProcess> processes;
  ReadingPlan plan(kNvmlReadings, shared.core_share);
  unsigned changes = 0;
  for (;;) {
    shared.asked.Wait();
    const auto [stop, asked] =
        shared.state.Read([](const auto& state) { return std::pair(state.stop, state.asked); });
    if (stop) return;
    if (!asked) continue;
    const SteadyNow now = [&, &asked = asked] { return asked->of + (shared.steady() - asked->at); };
    const auto timed = [&plan](NvmlReading kind, const auto& read) {
      const auto row = static_cast<std::size_t>(kind);
      if (!plan.Due(row)) return;
      const Duration before = ThreadCpuTime();
      read();
      plan.Spend(row, ThreadCpuTime() - before);
    };
    plan.SetShare(shared.core_share);
    plan.Begin(asked->of);
    for (std::size_t i = 0; i < devices.size(); ++i) devices[i].Begin(values[i]);
    for (const NvmlReading kind : kOfEachDevice) {
      timed(kind, [&, kind] {
        for (std::size_t i = 0; i < devices.size(); ++i) devices[i].Read(kind, now, values[i]);
      });
    }
    timed(NvmlReading::kXid, [&] { xid.Read(devices, values); });
    for (std::size_t i = 0; i < devices.size(); ++i) devices[i].End(values[i]);
    Publish(shared, asked->of, values);
    timed(NvmlReading::kProcesses, [&] { ListProcesses(shared, devices, asked->of, processes); });
    if (std::exchange(changes, plan.changes()) != plan.changes())
      shared.state.Change([&](auto& state) { state.slowed = plan.Slowed(); });
  }
}

void NvmlReader::Run(Shared& shared) {
  const auto count = CountGpus(shared.library);
  if (!count) {
    shared.state.Change([&](auto& state) { state.failure = count.error(); });
    return;
  }
  std::vector<NvmlDevice> devices;
  std::vector<GpuFacts> gpus;
  for (unsigned i = 0; i < *count; ++i) {
    if (IsHidden(shared.library, i)) continue;
    gpus.push_back(devices.emplace_back(shared.library, i).Facts());
  }
  shared.state.Change([&](auto& state) {
    if (gpus.empty()) state.failure = NotFound(Format("NVML hides all {} GPUs", *count));
    state.started = !gpus.empty();
    state.gpus = std::move(gpus);
    state.values.resize(devices.size());
  });
  if (!devices.empty()) Serve(shared, devices);
}

Result<std::unique_ptr<NvmlReader>> NvmlReader::Start(const NvmlLibrary& library,
                                                      const NvmlPatience& patience,
                                                      SteadyNow steady) {
  const auto shared = std::make_shared<Shared>(library, std::move(steady));
  const bool running = StartDetachedThread("nvml", [shared] {
    Run(*shared);
    shared->library.shutdown();
    shared->state.Change([](auto& state) { state.ended = true; });
  });
  if (!running) return Unavailable("NVML: no thread");
  shared->state.Wait({}, patience.start,
                     [](const auto& state) { return state.started || state.failure; });
  std::unique_ptr<NvmlReader> reader(new NvmlReader(shared, patience));
  if (const auto failure = reader->Failure()) return *failure;
  return reader;
}

NvmlReader::NvmlReader(std::shared_ptr<Shared> shared, const NvmlPatience& patience)
    : shared_(std::move(shared)), patience_(patience) {}

NvmlReader::~NvmlReader() {
  shared_->state.Change([](auto& state) { state.stop = true; });
  shared_->asked.Ring();
  // The library may crash when the process exits during a call.
  shared_->state.Wait({}, patience_.end, [](const auto& state) { return state.ended; });
}

void NvmlReader::Ask(SteadyTime now) {
  const SteadyTime at = shared_->steady();
  const bool busy = shared_->state.Change([&](auto& state) {
    if (state.asked) return true;
    state.asked = {now, at};
    return false;
  });
  awaits_ = !busy;
  if (busy) return;
  shared_->answered.Clear();
  shared_->asked.Ring();
}

void NvmlReader::Await() {
  const SteadyTime until = SystemClock().Steady() + patience_.reading;
  const auto pending = [](const Shared::State& state) { return state.asked.has_value(); };
  while (std::exchange(awaits_, false) && shared_->state.Read(pending)) {
    // The event may be of the previous reading.
    awaits_ = shared_->answered.WaitFor(until - SystemClock().Steady());
  }
}

std::optional<SteadyTime> NvmlReader::Newest(const Use& use) const {
  return shared_->state.Change([&](auto& state) {
    if (state.read) use(state.values);
    state.shown = true;
    return state.read;
  });
}

void NvmlReader::KeepWithin(double core_share) {
  shared_->core_share = core_share;
}

std::vector<SlowedReading> NvmlReader::Slowed() const {
  return shared_->state.Read([](const auto& state) { return state.slowed; });
}

void NvmlReader::ProcessesInto(SteadyTime now, std::vector<GpuProcess>& processes) const {
  shared_->state.Read([&](const auto& state) {
    if (!state.listed || now - *state.listed > kProcessesGoodFor) return;
    processes.insert(processes.end(), state.processes.begin(), state.processes.end());
  });
}

std::optional<Error> NvmlReader::Failure() const {
  return shared_->state.Read([](const auto& state) { return state.failure; });
}

std::vector<GpuFacts> NvmlReader::Gpus() const {
  return shared_->state.Read([](const auto& state) { return state.gpus; });
}

}  // namespace stepscope
