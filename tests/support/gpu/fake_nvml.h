#pragma once

#include <atomic>

namespace stepscope::test {

// Calls that a GPU of the fake can refuse.
enum FakeCall : unsigned {
  kFakeUse = 1,
  kFakeMemory = 2,
  kFakeEnergy = 4,
  kFakePower = 8,
  kFakeHeat = 16,
  kFakeClocks = 32,
  kFakeEcc = 64,
  kFakeNvlink = 128,
  kFakePcie = 256,
  kFakeProcesses = 512,
};

template <typename T>
using Scripted = std::atomic<T>;

// The values of an H100 at work.
struct FakeGpu {
  Scripted<bool> lost, hidden, mig, gpm;
  Scripted<unsigned> refused;  // FakeCalls that end with NOT_SUPPORTED
  Scripted<unsigned> util, memory_busy, power_mw, celsius, sm_mhz, memory_mhz;
  Scripted<unsigned long long> used, total, energy_mj, reasons, ecc;
  Scripted<unsigned long long> pcie_sent, pcie_received, nvlink_sent_kib, nvlink_received_kib;
  Scripted<unsigned> xid;  // the newest critical error; 0: none yet
  Scripted<double> gpm_percent;
  Scripted<unsigned> calls;

  static constexpr unsigned kMostProcesses = 32;
  Scripted<unsigned> processes;  // so many of these hold memory
  Scripted<unsigned> pids[kMostProcesses];
  Scripted<unsigned long long> held[kMostProcesses];
};

// A libnvidia-ml.so.1 whose values a test sets. The test loads it, gets this through
// reset_fake_nvml(), and changes values, while the agent's code reads them through the same dlopen.
// In a program that does not do so, FAKE_NVML_GPUS is the number of GPUs, FAKE_NVML_HANGS the
// milliseconds for which no call returns, and FAKE_NVML_CHARGES=1 lets each call take the CPU time
// that it took on an H200 with driver 580 (docs/agent.md has the table).
struct FakeNvml {
  static constexpr unsigned kMost = 16;

  Scripted<unsigned> count;
  Scripted<int> init_result;
  Scripted<bool> hangs;  // until it is false again
  Scripted<bool> charges;
  Scripted<bool> gpm_tells_links;
  FakeGpu gpus[kMost];
};

// Resets its one state to the values it was loaded with.
using ResetFakeNvml = FakeNvml*();

}  // namespace stepscope::test
