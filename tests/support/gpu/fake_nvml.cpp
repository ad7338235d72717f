// libnvidia-ml.so.1 for tests: see fake_nvml.h. Signatures are those of agent/gpu/nvml_library.h.

#include "tests/support/gpu/fake_nvml.h"

#include <poll.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

#include "agent/gpu/nvml_api.h"
#include "core/base/cpu_time.h"

using namespace stepscope::nvml;
using stepscope::test::FakeCall;
using stepscope::test::FakeGpu;
using stepscope::test::FakeNvml;

namespace {

constexpr Return kInvalidArgument = static_cast<Return>(2);

void Reset(FakeGpu& gpu) {
  gpu.lost = gpu.hidden = gpu.mig = false;
  gpu.gpm = true;
  gpu.refused = gpu.xid = gpu.calls = gpu.processes = 0;
  for (auto* counter : {&gpu.energy_mj, &gpu.reasons, &gpu.ecc, &gpu.pcie_sent, &gpu.pcie_received,
                        &gpu.nvlink_sent_kib, &gpu.nvlink_received_kib}) {
    *counter = 0;
  }
  for (auto& held : gpu.held) held = 0;
  gpu.util = 97;
  gpu.memory_busy = 48;
  gpu.power_mw = 650'000;
  gpu.celsius = 66;
  gpu.sm_mhz = 1'980;
  gpu.memory_mhz = 2'619;
  gpu.used = 60ull << 30;
  gpu.total = 80ull << 30;
  gpu.gpm_percent = 91.25;
}

FakeNvml& Fake() {
  static FakeNvml fake;
  return fake;
}

// The critical error that each GPU had when this set was asked last: as the driver, the fake gives
// an event to every set that watches its GPU, whichever thread asks first.
struct Events {
  std::array<bool, FakeNvml::kMost> watched{};
  std::array<unsigned, FakeNvml::kMost> seen{};
};

// Lives as long as the library; no call of ours frees a set.
Events& NewEvents() {
  static std::mutex mutex;
  static std::deque<Events> all;
  const std::lock_guard lock(mutex);
  return all.emplace_back();
}

Events& Of(EventSet set) {
  return *reinterpret_cast<Events*>(set);
}

unsigned Setting(const char* name, unsigned otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? static_cast<unsigned>(std::atoi(value)) : otherwise;
}

using Clock = std::chrono::steady_clock;

const Clock::time_point kHangsUntil =
    Clock::now() + std::chrono::milliseconds(Setting("FAKE_NVML_HANGS", 0));

void Reset(FakeNvml& fake) {
  fake.count = Setting("FAKE_NVML_GPUS", 1);
  fake.init_result = 0;
  fake.hangs = false;
  fake.charges = Setting("FAKE_NVML_CHARGES", 0) != 0;
  fake.gpm_tells_links = false;
  for (FakeGpu& gpu : fake.gpus) Reset(gpu);
}

const bool kReady = (Reset(Fake()), true);

FakeGpu& Of(Device device) {
  return *reinterpret_cast<FakeGpu*>(device);
}

void Hang() {
  while (Fake().hangs || Clock::now() < kHangsUntil) poll(nullptr, 0, 1);
}

// Takes so much CPU time, as the driver would.
void Charge(double us) {
  if (!Fake().charges) return;
  const auto until =
      stepscope::ThreadCpuTime() + std::chrono::nanoseconds(static_cast<std::int64_t>(1000 * us));
  while (stepscope::ThreadCpuTime() < until) {
  }
}

Return Enter(Device device, unsigned call = 0) {
  Hang();
  if (device == nullptr) return kInvalidArgument;
  ++Of(device).calls;
  if (Of(device).lost) return kGpuIsLost;
  return (Of(device).refused & call) != 0 ? kNotSupported : kSuccess;
}

template <typename T, typename V>
Return Give(Device device, unsigned call, V FakeGpu::*value, T* to) {
  const Return result = Enter(device, call);
  if (result == kSuccess) *to = Of(device).*value;
  return result;
}

unsigned IndexOf(Device device) {
  return static_cast<unsigned>(&Of(device) - Fake().gpus);
}

Return GiveText(Device device, const std::string& text, char* to, unsigned size) {
  const Return result = Enter(device);
  if (result == kSuccess) std::strncpy(to, text.c_str(), size);
  return result;
}

}  // namespace

extern "C" {

FakeNvml* reset_fake_nvml() {
  Reset(Fake());
  return &Fake();
}

Return nvmlInit_v2() {
  Hang();
  return static_cast<Return>(Fake().init_result.load());
}
Return nvmlShutdown() {
  return kSuccess;
}
Return nvmlDeviceGetCount_v2(unsigned* count) {
  *count = Fake().count;
  return kSuccess;
}
Return nvmlDeviceGetHandleByIndex_v2(unsigned index, Device* device) {
  if (index >= Fake().count) return kInvalidArgument;
  if (Fake().gpus[index].hidden) return kNoPermission;
  *device = reinterpret_cast<Device>(&Fake().gpus[index]);
  return kSuccess;
}
const char* nvmlErrorString(Return result) {
  return result == 9 ? "Driver Not Loaded" : "Unknown Error";
}

Return nvmlDeviceGetName(Device device, char* text, unsigned size) {
  Charge(1.9);
  return GiveText(device, "NVIDIA H100 80GB HBM3", text, size);
}
Return nvmlDeviceGetUUID(Device device, char* text, unsigned size) {
  Charge(2.0);
  const auto offset = reinterpret_cast<char*>(device) - reinterpret_cast<char*>(Fake().gpus);
  const auto instance = static_cast<std::size_t>(offset) % sizeof(FakeGpu);
  const auto gpu = std::to_string(static_cast<std::size_t>(offset) / sizeof(FakeGpu));
  if (instance == 0) return GiveText(device, "GPU-0000000" + gpu, text, size);
  std::strncpy(text, ("MIG-" + gpu + "-" + std::to_string(instance)).c_str(), size);
  return kSuccess;
}
Return nvmlDeviceGetPciInfo_v3(Device device, PciInfo* info) {
  Charge(1.4);
  std::strcpy(info->address, ("00000000:1" + std::to_string(IndexOf(device)) + ":00.0").c_str());
  return Enter(device);
}
Return nvmlDeviceGetMigMode(Device device, unsigned* current, unsigned* pending) {
  Charge(161);
  *pending = 0;
  return Give(device, 0, &FakeGpu::mig, current);
}
// There are two instances, the first with number 1; a handle is the GPU's, some bytes further.
Return nvmlDeviceGetMaxMigDeviceCount(Device device, unsigned* count) {
  *count = 7;
  return Enter(device);
}
Return nvmlDeviceGetMigDeviceHandleByIndex(Device device, unsigned index, Device* instance) {
  if (!Of(device).mig || index < 1 || index > 2) return static_cast<Return>(6);
  *instance = reinterpret_cast<Device>(reinterpret_cast<char*>(device) + index);
  return kSuccess;
}
Return nvmlDeviceGetUtilizationRates(Device device, Utilization* use) {
  Charge(1.3);
  const Return result = Enter(device, stepscope::test::kFakeUse);
  if (result == kSuccess && Of(device).mig) return kNotSupported;
  if (result == kSuccess) *use = {Of(device).util, Of(device).memory_busy};
  return result;
}
Return nvmlDeviceGetMemoryInfo_v2(Device device, Memory2* memory) {
  Charge(5.8);
  if (memory->version != 0x2000028) return static_cast<Return>(25);
  memory->total = Of(device).total;
  return Give(device, stepscope::test::kFakeMemory, &FakeGpu::used, &memory->used);
}
Return nvmlDeviceGetPowerUsage(Device device, unsigned* mw) {
  Charge(1.4);
  return Give(device, stepscope::test::kFakePower, &FakeGpu::power_mw, mw);
}
Return nvmlDeviceGetTotalEnergyConsumption(Device device, unsigned long long* mj) {
  Charge(2905);
  return Give(device, stepscope::test::kFakeEnergy, &FakeGpu::energy_mj, mj);
}
Return nvmlDeviceGetTemperatureV(Device device, Temperature* temperature) {
  Charge(1.5);
  if (temperature->version != 0x100000c) return static_cast<Return>(25);
  return Give(device, stepscope::test::kFakeHeat, &FakeGpu::celsius, &temperature->celsius);
}
Return nvmlDeviceGetTemperature(Device device, unsigned, unsigned* celsius) {
  Charge(1.5);
  return Give(device, 0, &FakeGpu::celsius, celsius);
}
Return nvmlDeviceGetClockInfo(Device device, unsigned which, unsigned* mhz) {
  Charge(2.0);
  const auto clock = which == kClockSm ? &FakeGpu::sm_mhz : &FakeGpu::memory_mhz;
  return Give(device, stepscope::test::kFakeClocks, clock, mhz);
}
Return nvmlDeviceGetCurrentClocksThrottleReasons(Device device, unsigned long long* reasons) {
  Charge(1.3);
  return Give(device, stepscope::test::kFakeClocks, &FakeGpu::reasons, reasons);
}
Return nvmlDeviceGetTotalEccErrors(Device device, unsigned, unsigned, unsigned long long* count) {
  Charge(2.0);
  return Give(device, stepscope::test::kFakeEcc, &FakeGpu::ecc, count);
}

Return nvmlDeviceGetFieldValues(Device device, int count, FieldValue* values) {
  for (FieldValue* value = values; value != values + count; ++value) {
    const bool nvlink = value->field < 150;
    const auto which = nvlink ? stepscope::test::kFakeNvlink : stepscope::test::kFakePcie;
    const auto source = value->field == kFieldNvlinkSend      ? &FakeGpu::nvlink_sent_kib
                        : value->field == kFieldNvlinkReceive ? &FakeGpu::nvlink_received_kib
                        : value->field == kFieldPcieSend      ? &FakeGpu::pcie_sent
                                                              : &FakeGpu::pcie_received;
    Charge(nvlink ? 8.8 : 167);
    value->type = kUnsignedLongLong;
    value->result = Give(device, which, source, &value->value.large);
    if (nvlink && value->scope != kAllLinks) value->result = kInvalidArgument;
  }
  return Enter(device);
}

// Not counted, because it is called only now and then.
Return nvmlDeviceGetComputeRunningProcesses_v3(Device device, unsigned* count,
                                               NvmlProcessMemory* to) {
  Charge(6.1);
  Hang();
  if (Of(device).lost) return kGpuIsLost;
  if ((Of(device).refused & stepscope::test::kFakeProcesses) != 0) return kNotSupported;
  const unsigned room = std::exchange(*count, Of(device).processes);
  if (*count > room) return kInsufficientSize;
  for (unsigned i = 0; i < *count; ++i) to[i] = {Of(device).pids[i], Of(device).held[i], 0, 0};
  return kSuccess;
}

Return nvmlEventSetCreate(EventSet* set) {
  *set = reinterpret_cast<EventSet>(&NewEvents());
  return kSuccess;
}
Return nvmlDeviceRegisterEvents(Device device, unsigned long long, EventSet set) {
  Of(set).watched[static_cast<std::size_t>(&Of(device) - Fake().gpus)] = true;
  return Enter(device);
}
Return nvmlEventSetWait_v2(EventSet set, EventData* event, unsigned) {
  Events& events = Of(set);
  for (std::size_t i = 0; i < FakeNvml::kMost; ++i) {
    FakeGpu& gpu = Fake().gpus[i];
    const unsigned xid = gpu.xid;
    if (!events.watched[i] || std::exchange(events.seen[i], xid) == xid || xid == 0) continue;
    *event = {reinterpret_cast<Device>(&gpu), kEventXid, xid, 0, 0};
    return kSuccess;
  }
  return kTimeout;
}

Return nvmlGpmQueryDeviceSupport(Device device, GpmSupport* support) {
  return Give(device, 0, &FakeGpu::gpm, &support->supported);
}
Return nvmlGpmSampleAlloc(GpmSample* sample) {
  *sample = reinterpret_cast<GpmSample>(new double(0));
  return kSuccess;
}
Return nvmlGpmSampleFree(GpmSample sample) {
  delete reinterpret_cast<double*>(sample);
  return kSuccess;
}
Return nvmlGpmSampleGet(Device device, GpmSample sample) {
  Charge(36);
  return Give(device, 0, &FakeGpu::gpm_percent, reinterpret_cast<double*>(sample));
}
// The mean of both samples, so that a test sees which two were taken.
Return nvmlGpmMetricsGet(GpmMetrics* metrics) {
  Charge(1.1);
  if (metrics->version != 1 || metrics->before == nullptr) return kInvalidArgument;
  const double before = *reinterpret_cast<double*>(metrics->before);
  const double after = *reinterpret_cast<double*>(metrics->after);
  for (unsigned i = 0; i < metrics->count; ++i) {
    metrics->metrics[i].value = (before + after) / 2;
    const unsigned id = metrics->metrics[i].id;
    const bool told = id != 3 && (id < 20 || Fake().gpm_tells_links);
    metrics->metrics[i].result = told ? kSuccess : kNotSupported;
  }
  return kSuccess;
}

}  // extern "C"
