#include "agent/gpu/nvml_xid.h"

#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr int kMostAtOnce = 16;

}  // namespace

NvmlXid::NvmlXid(const NvmlLibrary& library, std::span<const NvmlDevice> devices)
    : library_(library), counts_(devices.size(), std::nan("")) {
  if (library.event_set == nullptr || library.watch == nullptr || library.next_event == nullptr) {
    return;
  }
  if (library.event_set(&events_) != nvml::kSuccess) events_ = nullptr;
  if (events_ == nullptr) return;
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const auto watched = library.watch(devices[i].handle(), nvml::kEventXid, events_);
    if (watched == nvml::kSuccess) counts_[i] = 0;
  }
}

void NvmlXid::Take(const nvml::EventData& event, std::span<const NvmlDevice> devices) {
  for (std::size_t i = 0; i < devices.size(); ++i) {
    if (devices[i].handle() != event.device) continue;
    ++counts_[i];
    LogWarning("gpu{}: the driver reports XID {}", devices[i].index(), event.data);
  }
}

void NvmlXid::Read(std::span<const NvmlDevice> devices, std::span<GpuValues> values) {
  if (events_ == nullptr) return;
  nvml::EventData event{};
  for (int i = 0; i < kMostAtOnce; ++i) {
    if (library_.next_event(events_, &event, 0) != nvml::kSuccess) break;
    if ((event.type & nvml::kEventXid) != 0) Take(event, devices);
  }
  for (std::size_t i = 0; i < counts_.size(); ++i) values[i][GpuMetric::kXidErrors] = counts_[i];
}

}  // namespace stepscope
