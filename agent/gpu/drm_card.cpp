#include "agent/gpu/drm_card.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "agent/collect/scan.h"
#include "agent/collect/source.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kFolder = "/sys/class/drm";
constexpr std::size_t kMostCards = 64;

std::string FirstLine(const std::string& root, const std::string& path) {
  auto source = Source::Open(root, path);
  if (!source) return "";
  const auto text = source->Read();
  return text ? Printable(Trim(text->substr(0, text->find('\n'))), 100) : "";
}

// The value of NAME in a file of lines NAME=value.
std::string Property(const std::string& root, const std::string& path, std::string_view name) {
  auto source = Source::Open(root, path);
  if (!source) return "";
  auto text = source->Read();
  std::string_view line;
  while (text && TakeLine(*text, line)) {
    if (line.starts_with(name) && line.substr(name.size()).starts_with('=')) {
      return Printable(line.substr(name.size() + 1), 100);
    }
  }
  return "";
}

// The number in the name of a card: 7 for "card7"; nothing for any other name.
std::optional<unsigned> NumberOf(std::string_view name) {
  if (!name.starts_with("card")) return std::nullopt;
  name.remove_prefix(4);
  unsigned number = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return number;
}

std::vector<unsigned> CardNumbers(const std::string& root) {
  std::vector<unsigned> numbers;
  std::error_code failed;
  std::filesystem::directory_iterator entry(root + std::string(kFolder), failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    const auto number = NumberOf(entry->path().filename().string());
    if (number && numbers.size() < kMostCards) numbers.push_back(*number);
  }
  std::ranges::sort(numbers);
  return numbers;
}

std::string FolderOf(unsigned number) {
  return Format("{}/card{}", kFolder, number);
}

std::string VendorOf(const std::string& root, unsigned number) {
  return FirstLine(root, FolderOf(number) + "/device/vendor");
}

// The driver xe has a folder for each tile, i915 one for each of their graphics parts.
std::size_t TilesOf(const std::string& root, const std::string& folder) {
  std::size_t tiles = 0;
  const auto has = [&](const char* part) {
    return access(Format("{}{}/{}{}", root, folder, part, tiles).c_str(), F_OK) == 0;
  };
  while (has("device/tile") || has("gt/gt")) ++tiles;
  return std::max<std::size_t>(tiles, 1);
}

DrmCard ReadCard(const std::string& root, unsigned number) {
  DrmCard card{.name = Format("card{}", number)};
  card.folder = FolderOf(number);
  const std::string device = card.folder + "/device/";
  card.vendor = VendorOf(root, number);
  card.product = FirstLine(root, device + "product_name");
  if (card.product.empty()) {
    card.product = Format("{}:{}", card.vendor, FirstLine(root, device + "device"));
  }
  card.pci_address = Property(root, device + "uevent", "PCI_SLOT_NAME");
  const std::string id = FirstLine(root, device + "unique_id");
  if (card.vendor == kAmdVendor && !id.empty()) card.uuid = "GPU-" + id;
  card.tiles = TilesOf(root, card.folder);
  return card;
}

}  // namespace

std::uint64_t ReadCardNumber(const std::string& root, const std::string& path) {
  const std::string line = FirstLine(root, path);
  std::string_view rest = line;
  return TakeNumber(rest).value_or(0);
}

bool HasDrmCards(const std::string& root) {
  return std::ranges::any_of(CardNumbers(root), [&](unsigned number) {
    const std::string vendor = VendorOf(root, number);
    return vendor == kAmdVendor || vendor == kIntelVendor;
  });
}

std::vector<DrmCard> FindDrmCards(const std::string& root) {
  std::vector<DrmCard> cards;
  for (const unsigned number : CardNumbers(root)) cards.push_back(ReadCard(root, number));
  return cards;
}

}  // namespace stepscope
