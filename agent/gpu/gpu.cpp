#include "agent/gpu/gpu.h"

#include <unistd.h>

#include <algorithm>
#include <vector>

#include "agent/collect/background_collector.h"
#include "agent/collect/retried_collector.h"
#include "agent/gpu/drm_card.h"
#include "agent/gpu/nvidia.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

class GpuCollector : public Collector {
 public:
  explicit GpuCollector(std::vector<std::unique_ptr<Collector>> vendors)
      : vendors_(std::move(vendors)) {}

  void Begin(SteadyTime now) override {
    for (const auto& vendor : vendors_) vendor->Begin(now);
  }

  Status Collect(SteadyTime now, TickRow& row) override {
    Status all;
    for (const auto& vendor : vendors_) {
      Status one = vendor->Collect(now, row);
      if (all.ok()) all = std::move(one);
    }
    return all;
  }

  std::vector<GpuFacts> Gpus() const override {
    std::vector<GpuFacts> gpus;
    for (const auto& vendor : vendors_) {
      for (GpuFacts& gpu : vendor->Gpus()) gpus.push_back(std::move(gpu));
    }
    return gpus;
  }

  void GpuProcessesInto(SteadyTime now, std::vector<GpuProcess>& processes) const override {
    for (const auto& vendor : vendors_) vendor->GpuProcessesInto(now, processes);
  }

  bool Starting() const override {
    return std::ranges::any_of(vendors_, [](const auto& vendor) { return vendor->Starting(); });
  }

  void KeepWithin(double core_share) override {
    for (const auto& vendor : vendors_) vendor->KeepWithin(core_share);
  }

  std::vector<SlowedReading> Slowed() const override {
    std::vector<SlowedReading> all;
    for (const auto& vendor : vendors_) {
      for (SlowedReading& one : vendor->Slowed()) all.push_back(std::move(one));
    }
    return all;
  }

  std::string Shortfall() const override {
    std::string first;
    for (const auto& vendor : vendors_) {
      if (first.empty()) first = vendor->Shortfall();
    }
    return first;
  }

 private:
  std::vector<std::unique_ptr<Collector>> vendors_;
};

Result<std::unique_ptr<Collector>> MakeCards(const std::string& root) {
  std::vector<std::unique_ptr<Collector>> vendors;
  for (const auto make : {MakeAmdCollector, MakeIntelCollector}) {
    if (auto cards = make(root)) vendors.push_back(std::move(*cards));
  }
  if (vendors.empty()) return NotFound("no AMD or Intel card");
  return std::unique_ptr<Collector>(std::make_unique<GpuCollector>(std::move(vendors)));
}

// The cards' files ask a driver, so they are read in the background. Without a card there is no
// thread.
Result<std::unique_ptr<Collector>> MakeCardsAside(const std::string& root, TickRow&) {
  if (!HasDrmCards(root)) return NotFound("no AMD or Intel card");
  return CollectInBackground([root](TickRow&) { return MakeCards(root); }, {.name = "drm"});
}

Result<std::unique_ptr<Collector>> MakeNvidia(const std::string& root, TickRow&) {
  return MakeNvidiaCollector(NvmlFile(root), {});
}

constexpr CollectorKind kNvidia{"nvidia", MakeNvidia, true}, kDrm{"drm", MakeCardsAside, true};

}  // namespace

std::string NvmlFile(const std::string& root) {
  for (const char* folder :
       {"/usr/lib/x86_64-linux-gnu/", "/usr/lib/aarch64-linux-gnu/", "/usr/lib64/", "/usr/lib/"}) {
    const std::string file = root + folder + kNvmlName;
    if (!root.empty() && access(file.c_str(), R_OK) == 0) return file;
  }
  return kNvmlName;
}

// When one vendor's GPUs exist, the other's are not missed, but their driver may be loaded later.
Result<std::unique_ptr<Collector>> MakeGpuCollector(const std::string& root, TickRow& row) {
  auto nvidia = kNvidia.make(root, row), cards = kDrm.make(root, row);
  if (!nvidia && !cards) {
    return NotFound(Format("no GPU: {}; no AMD or Intel card", nvidia.error().message));
  }
  const bool has_nvidia = nvidia.ok(), has_cards = cards.ok();
  std::vector<std::unique_ptr<Collector>> vendors;
  vendors.push_back(RetryCollector(kNvidia, root, std::move(nvidia), !has_cards));
  vendors.push_back(RetryCollector(kDrm, root, std::move(cards), !has_nvidia));
  return std::unique_ptr<Collector>(std::make_unique<GpuCollector>(std::move(vendors)));
}

}  // namespace stepscope
