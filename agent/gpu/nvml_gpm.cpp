#include "agent/gpu/nvml_gpm.h"

#include <utility>

namespace stepscope {
namespace {

constexpr Duration kLeastGap = 100ms;

struct GpmRow {
  unsigned id;
  GpuMetric metric;
  double unit = 1;
};

constexpr double kMebi = 1 << 20;
constexpr GpmRow kGpmRows[] = {
    {2, GpuMetric::kSmActive},         {3, GpuMetric::kSmOccupancy},
    {5, GpuMetric::kTensorActive},     {10, GpuMetric::kDramActive},
    {20, GpuMetric::kPcieSend, kMebi}, {21, GpuMetric::kPcieReceive, kMebi},
};

bool Supported(const NvmlLibrary& library, nvml::Device device) {
  if (library.gpm_support == nullptr || library.gpm_new_sample == nullptr ||
      library.gpm_free_sample == nullptr || library.gpm_read == nullptr ||
      library.gpm_metrics == nullptr) {
    return false;
  }
  nvml::GpmSupport support;
  return library.gpm_support(device, &support) == nvml::kSuccess && support.supported != 0;
}

}  // namespace

NvmlGpm::NvmlGpm(const NvmlLibrary& library, nvml::Device device) : library_(library) {
  if (!Supported(library, device)) return;
  for (Sample* sample : {&before_, &after_}) {
    nvml::GpmSample made = nullptr;
    if (library.gpm_new_sample(&made) != nvml::kSuccess) return;
    *sample = Sample(made, Free{library.gpm_free_sample});
  }
  metrics_ = std::make_unique<nvml::GpmMetrics>();
  metrics_->count = std::size(kGpmRows);
  for (std::size_t i = 0; i < std::size(kGpmRows); ++i) metrics_->metrics[i].id = kGpmRows[i].id;
}

bool NvmlGpm::NewSample(nvml::Device device, SteadyTime now) {
  std::swap(before_, after_);
  const bool had_one = std::exchange(sampled_, false);
  if (library_.gpm_read(device, after_.get()) != nvml::kSuccess) return false;
  sampled_ = true;
  at_ = now;
  return had_one;
}

void NvmlGpm::Read(nvml::Device device, SteadyTime now, GpuValues& values) {
  if (!metrics_) return;
  if (!sampled_ || now - at_ >= kLeastGap) {
    known_ = NewSample(device, now);
    metrics_->before = before_.get();
    metrics_->after = after_.get();
    if (known_) known_ = library_.gpm_metrics(metrics_.get()) == nvml::kSuccess;
  }
  if (!known_) return;
  for (std::size_t i = 0; i < std::size(kGpmRows); ++i) {
    const nvml::GpmMetric& metric = metrics_->metrics[i];
    if (metric.result == nvml::kSuccess)
      values[kGpmRows[i].metric] = metric.value * kGpmRows[i].unit;
  }
}

bool NvmlGpm::Tells(GpuMetric metric) const {
  for (std::size_t i = 0; known_ && i < std::size(kGpmRows); ++i) {
    if (kGpmRows[i].metric == metric) return metrics_->metrics[i].result == nvml::kSuccess;
  }
  return false;
}

}  // namespace stepscope
