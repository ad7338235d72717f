#pragma once

#include <cstddef>

// NVML, the driver's library, as far as the agent calls it: declarations of our own, because the
// header comes with the CUDA toolkit only. Names follow the library's without "nvml". Sizes and
// versions are part of its binary interface.
namespace stepscope::nvml {

enum Return : int {
  kSuccess = 0,
  kNotSupported = 3,
  kNoPermission = 4,
  kInsufficientSize = 7,
  kTimeout = 10,
  kFunctionNotFound = 13,
  kGpuIsLost = 15,
};

using Device = struct DeviceTag*;
using EventSet = struct EventSetTag*;
using GpmSample = struct GpmSampleTag*;

inline constexpr unsigned kTemperatureGpu = 0;
inline constexpr unsigned kClockSm = 1, kClockMemory = 2;
inline constexpr unsigned kUncorrected = 1, kSinceDriverStart = 0;  // counts of ECC errors
inline constexpr unsigned long long kEventXid = 8;
inline constexpr unsigned kAllLinks = ~0u;
inline constexpr unsigned kFieldNvlinkSend = 138, kFieldNvlinkReceive = 139;  // KiB
inline constexpr unsigned kFieldPcieSend = 197, kFieldPcieReceive = 198;      // bytes

// Reasons for which clocks are lower than they could be.
inline constexpr unsigned long long kPowerReasons = 0x04 | 0x80;    // software cap, power brake
inline constexpr unsigned long long kThermalReasons = 0x20 | 0x40;  // software, hardware
inline constexpr unsigned long long kHardwareSlowdown = 0x08;       // either of both

constexpr unsigned Version(std::size_t size, unsigned version) {
  return static_cast<unsigned>(size) | version << 24;
}

struct Utilization {
  unsigned gpu, memory;  // %
};
static_assert(sizeof(Utilization) == 8);

// Version 2; version 1 counts the driver's own memory as used.
struct Memory2 {
  unsigned version = Version(40, 2);
  unsigned long long total = 0, reserved = 0, free = 0, used = 0;
};
static_assert(sizeof(Memory2) == 40);

struct Temperature {
  unsigned version = Version(12, 1);
  unsigned sensor = kTemperatureGpu;
  int celsius = 0;
};
static_assert(sizeof(Temperature) == 12);

inline constexpr unsigned long long kUnknownMemory = ~0ull;

// For the function with _v3: the structure of the function without a version has 16 bytes.
struct NvmlProcessMemory {
  unsigned pid = 0;
  unsigned long long used = 0;
  unsigned gpu_instance = 0, compute_instance = 0;
};
static_assert(sizeof(NvmlProcessMemory) == 24);

struct PciInfo {
  char short_address[16];
  unsigned domain, bus, device, device_id, subsystem_id;
  char address[32];
};
static_assert(sizeof(PciInfo) == 68);

union Value {
  double real;
  unsigned word;
  unsigned long long large;
  long long signed_large;
};

enum ValueType : unsigned { kDouble, kUnsigned, kUnsignedLong, kUnsignedLongLong };

struct FieldValue {
  unsigned field = 0, scope = 0;
  long long timestamp = 0, latency_us = 0;
  ValueType type = kUnsignedLongLong;
  Return result = kSuccess;
  Value value{};
};
static_assert(sizeof(FieldValue) == 40);

struct EventData {
  Device device;
  unsigned long long type, data;
  unsigned gpu_instance, compute_instance;
};
static_assert(sizeof(EventData) == 32);

struct GpmSupport {
  unsigned version = 1, supported = 0;
};
static_assert(sizeof(GpmSupport) == 8);

struct GpmMetric {
  unsigned id = 0;
  Return result = kSuccess;
  double value = 0;
  const char* words[3] = {};
};
static_assert(sizeof(GpmMetric) == 40);

// The library's structure ends in an array whose length has grown from 98 to 333 while the version
// stayed 1; this room is enough for all of them.
struct GpmMetrics {
  unsigned version = 1, count = 0;
  GpmSample before = nullptr, after = nullptr;
  GpmMetric metrics[512];
};
static_assert(sizeof(GpmMetrics) == 24 + 40 * 512);

}  // namespace stepscope::nvml
