// Intel cards, read from the files of the drivers xe and i915.

#include "agent/gpu/drm_card.h"
#include "agent/gpu/gpu.h"

namespace stepscope {
namespace {

using enum GpuMetric;
using enum CardFile;

// The count of busy time needs rights that the agent may lack: a GPU that does not sleep counts as
// busy.
constexpr CardRow kIntelRows[] = {
    {kUtil, kIdle, 1, "device/tile0/gt0/gtidle/idle_residency_ms"},
    {kUtil, kIdle, 1, "gt/gt0/rc6_residency_ms"},
    {kUtil, kIdle, 1, "power/rc6_residency_ms"},
    {kMemoryTotal, kGauge, 1, "lmem_total_bytes"},
    {kPower, kCounter, 1e-6, "hwmon/energy1_input"},
    {kPower, kCounter, 1e-6, "hwmon/energy2_input"},
    {kTemperature, kGauge, 1e-3, "hwmon/temp1_input"},
    {kTemperature, kGauge, 1e-3, "hwmon/temp2_input"},
    {kSmClock, kGauge, 1, "device/tile0/gt0/freq0/act_freq"},
    {kSmClock, kGauge, 1, "gt/gt0/rps_act_freq_mhz"},
    {kSmClock, kGauge, 1, "gt_act_freq_mhz"},
};

// The PCI address of every GPU inside an Intel processor.
constexpr std::string_view kInside = "0000:00:02.0";

}  // namespace

Result<std::unique_ptr<Collector>> MakeIntelCollector(const std::string& root) {
  std::vector<DrmCard> cards = FindDrmCards(root);
  std::erase_if(cards, [](const DrmCard& card) {
    return card.vendor != kIntelVendor || card.pci_address == kInside;
  });
  return MakeCardCollector(root, cards, kIntelRows);
}

}  // namespace stepscope
