#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "agent/collect/collector.h"
#include "agent/collect/gpu_values.h"

namespace stepscope {

inline constexpr std::string_view kAmdVendor = "0x1002", kIntelVendor = "0x8086";

// A graphics card of the kernel, such as card1.
struct DrmCard {
  std::string name;           // card1
  std::string folder{};       // /sys/class/drm/card1
  std::string vendor{};       // 0x1002
  std::string product{};      // what it is called, or its numbers
  std::string pci_address{};  // 0000:c1:00.0
};

// Whether there is one of AMD or Intel. Asks no driver: who made a card, its bus knows.
bool HasDrmCards(const std::string& root);

// In the order of their numbers. Connectors, such as card1-DP-1, are none.
std::vector<DrmCard> FindDrmCards(const std::string& root);

// How the number in a file becomes a value. kIdle: a counter of milliseconds in which it slept.
// kLink: transfers per second of each lane of PCIe, times the lanes that stand beside it.
enum class CardFile { kGauge, kCounter, kIdle, kLink };

// A row of a vendor's table. `path` is below the card's folder; "hwmon/" stands for the folder of
// its sensors. Of several rows for one metric the first whose file is there counts.
struct CardRow {
  GpuMetric metric;
  CardFile kind;
  double unit;  // what 1 in the file stands for
  std::string_view path;
};

// Reads such cards. What a card has no file for is missing; a card that sleeps is left asleep and
// has no samples. Fails when there is no card; the error's message is not for people.
Result<std::unique_ptr<Collector>> MakeCardCollector(const std::string& root,
                                                     std::span<const DrmCard> cards,
                                                     std::span<const CardRow> rows);

// The whole number in a file of the kernel; 0 when there is none.
std::uint64_t ReadCardNumber(const std::string& root, const std::string& path);

}  // namespace stepscope
