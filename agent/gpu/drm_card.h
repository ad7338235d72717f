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

// A graphics card that the kernel lists, such as card1.
struct DrmCard {
  std::string name;           // card1
  std::string folder{};       // /sys/class/drm/card1
  std::string vendor{};       // 0x1002
  std::string product{};      // product name, or its PCI ids
  std::string pci_address{};  // 0000:c1:00.0
  std::string uuid{};         // GPU-18f68e602b8a790f, where AMD's driver tells it
  std::size_t tiles = 1;      // of Intel's
};

// Whether the node has a card of AMD or Intel. Asks no driver: the PCI bus knows the vendor.
bool HasDrmCards(const std::string& root);

// All cards in the order of their numbers, without connectors such as card1-DP-1.
std::vector<DrmCard> FindDrmCards(const std::string& root);

// How the number in a file becomes a value. kIdle: a counter of milliseconds asleep. kLink:
// transfers per second of each PCIe lane, times the lanes in the file beside it.
enum class CardFile { kGauge, kCounter, kIdle, kLink };

// A row of a vendor's table. `path` is below the card's folder; "hwmon/" is replaced by the folder
// of its sensors. If several rows have one metric, the first whose file exists counts.
struct CardRow {
  GpuMetric metric;
  CardFile kind;
  double unit;  // value of 1 in the file
  std::string_view path;
};

// Reads these cards. A metric without a file is missing; a sleeping card is not woken and has no
// samples. Fails when there is no card; the error's message is not shown to people.
Result<std::unique_ptr<Collector>> MakeCardCollector(const std::string& root,
                                                     std::span<const DrmCard> cards,
                                                     std::span<const CardRow> rows);

// The whole number in a file of the kernel; 0 when there is none.
std::uint64_t ReadCardNumber(const std::string& root, const std::string& path);

}  // namespace stepscope
