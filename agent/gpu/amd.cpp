// AMD cards, read from the files of the driver amdgpu.

#include "agent/gpu/drm_card.h"
#include "agent/gpu/gpu.h"

namespace stepscope {
namespace {

using enum GpuMetric;
using enum CardFile;

constexpr CardRow kAmdRows[] = {
    {kUtil, kGauge, 1, "device/gpu_busy_percent"},
    {kMemoryBusy, kGauge, 1, "device/mem_busy_percent"},
    {kMemoryUsed, kGauge, 1, "device/mem_info_vram_used"},
    {kMemoryTotal, kGauge, 1, "device/mem_info_vram_total"},
    {kPower, kGauge, 1e-6, "hwmon/power1_average"},
    {kPower, kGauge, 1e-6, "hwmon/power1_input"},
    {kTemperature, kGauge, 1e-3, "hwmon/temp1_input"},
    {kTemperature, kGauge, 1e-3, "hwmon/temp2_input"},
    {kSmClock, kGauge, 1e-6, "hwmon/freq1_input"},
    {kMemoryClock, kGauge, 1e-6, "hwmon/freq2_input"},
    {kPcieLink, kLink, 1e9, "device/current_link_speed"},
};

// A GPU inside a processor has less memory than this, a part of the node's.
constexpr std::uint64_t kLeastMemory = 4ull << 30;

}  // namespace

Result<std::unique_ptr<Collector>> MakeAmdCollector(const std::string& root) {
  std::vector<DrmCard> cards = FindDrmCards(root);
  std::erase_if(cards, [&](const DrmCard& card) {
    return card.vendor != kAmdVendor ||
           ReadCardNumber(root, card.folder + "/device/mem_info_vram_total") < kLeastMemory;
  });
  return MakeCardCollector(root, cards, kAmdRows);
}

}  // namespace stepscope
