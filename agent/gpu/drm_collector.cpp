// MakeCardCollector of drm_card.h: samples of graphics cards that the kernel shows as files.

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <optional>

#include "agent/collect/counter.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"
#include "agent/gpu/drm_card.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::string_view kSensors = "hwmon/";
constexpr Duration kReopenPeriod = 10s;

constexpr std::string_view kLanesBeside = "current_link_width";

struct File {
  const CardRow* row;
  Source source;
  Counter counter{};
  std::optional<Source> lanes{};  // for kLink
};

struct Card {
  GpuFacts facts;
  std::string folder;
  std::optional<Source> power_state{};
  std::vector<File> files{};
  GpuColumns columns;
  Pace reopen_pace{kReopenPeriod};
};

std::optional<double> NumberIn(Source& source) {
  const auto text = source.Read();
  if (!text) return std::nullopt;
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), number);
  if (error != std::errc()) return std::nullopt;
  return static_cast<double>(number);
}

// Bytes per second of a link: "16.0 GT/s PCIe" on each of "16" lanes. From 8 GT/s on 130 bits carry
// 128, below that 10 carry 8.
std::optional<double> LinkOf(File& file) {
  if (!file.lanes) return std::nullopt;
  const auto lanes = NumberIn(*file.lanes);
  const auto text = file.source.Read();
  if (!lanes || !text) return std::nullopt;
  double each = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), each);
  if (error != std::errc() || !(each > 0) || *lanes <= 0) return std::nullopt;
  const double carried = each < 8 ? 8.0 / 10 : 128.0 / 130;
  return each * file.row->unit * *lanes * carried / 8;
}

// Sets `answers` where the file can be read.
std::optional<double> ValueOf(File& file, SteadyTime now, bool& answers) {
  if (file.row->kind == CardFile::kLink) return LinkOf(file);
  const auto number = NumberIn(file.source);
  if (!number) return std::nullopt;
  answers = true;
  const CardRow& row = *file.row;
  if (row.kind == CardFile::kGauge) return *number * row.unit;
  const auto rate = file.counter.Rate(static_cast<std::uint64_t>(*number), now);
  if (!rate) return std::nullopt;
  if (row.kind == CardFile::kCounter) return *rate * row.unit;
  return std::clamp(100 - *rate * row.unit / 10, 0.0, 100.0);
}

// The first folder of sensors below a card, from the root; "" when it has none.
std::string SensorsOf(const std::string& root, const std::string& folder) {
  std::vector<std::string> names;
  std::error_code failed;
  std::filesystem::directory_iterator entry(root + folder + "/device/hwmon", failed), end;
  for (; !failed && entry != end; entry.increment(failed)) {
    names.push_back(entry->path().filename().string());
  }
  std::ranges::sort(names);
  return names.empty() ? "" : Format("{}/device/hwmon/{}/", folder, names[0]);
}

std::string PathOf(const CardRow& row, const std::string& folder, const std::string& sensors) {
  if (!row.path.starts_with(kSensors)) return Format("{}/{}", folder, row.path);
  return sensors.empty() ? "" : sensors + std::string(row.path.substr(kSensors.size()));
}

std::vector<File> OpenFiles(const std::string& root, const std::string& folder,
                            std::span<const CardRow> rows) {
  const std::string sensors = SensorsOf(root, folder);
  std::vector<File> files;
  for (const CardRow& row : rows) {
    const auto same = [&](const File& file) { return file.row->metric == row.metric; };
    const std::string path = PathOf(row, folder, sensors);
    if (path.empty() || std::ranges::any_of(files, same)) continue;
    auto source = Source::Open(root, path);
    if (!source) continue;
    File& file = files.emplace_back(&row, std::move(*source));
    if (row.kind != CardFile::kLink) continue;
    auto lanes =
        Source::Open(root, path.substr(0, path.rfind('/') + 1) + std::string(kLanesBeside));
    if (lanes) file.lanes = std::move(*lanes);
  }
  return files;
}

void OpenSources(const std::string& root, std::span<const CardRow> rows, Card& card) {
  card.files = OpenFiles(root, card.folder, rows);
  auto power_state = Source::Open(root, card.folder + "/device/power/runtime_status");
  card.power_state.reset();
  if (power_state) card.power_state = std::move(*power_state);
}

Card OpenCard(const std::string& root, const DrmCard& card, std::span<const CardRow> rows) {
  GpuFacts facts{.device = card.name, .name = card.product, .pci_address = card.pci_address};
  facts.uuid = card.uuid;
  facts.tiles = card.tiles;
  facts.vendor = card.vendor == kIntelVendor ? GpuVendor::kIntel : GpuVendor::kAmd;
  Card opened{.facts = std::move(facts), .folder = card.folder, .columns = GpuColumns(card.name)};
  OpenSources(root, rows, opened);
  for (File& file : opened.files) {
    if (file.row->metric != GpuMetric::kMemoryTotal) continue;
    opened.facts.memory_bytes = static_cast<std::uint64_t>(NumberIn(file.source).value_or(0));
  }
  return opened;
}

bool Sleeps(Card& card) {
  if (!card.power_state) return false;
  const auto text = card.power_state->Read();
  return text && text->starts_with("suspended");
}

class CardCollector : public Collector {
 public:
  CardCollector(const std::string& root, std::span<const CardRow> rows, std::vector<Card> cards)
      : root_(root), rows_(rows), cards_(std::move(cards)) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    for (Card& card : cards_) {
      if (!Sleeps(card)) Read(card, now, row);
    }
    return {};
  }

  std::vector<GpuFacts> Gpus() const override {
    std::vector<GpuFacts> gpus;
    for (const Card& card : cards_) gpus.push_back(card.facts);
    return gpus;
  }

 private:
  void Read(Card& card, SteadyTime now, TickRow& row) {
    GpuValues values;
    bool answers = false;
    for (File& file : card.files) {
      if (const auto value = ValueOf(file, now, answers)) values[file.row->metric] = *value;
    }
    // The open files are of a card that is gone; it may come again.
    if (!answers && card.reopen_pace.Due(now)) OpenSources(root_, rows_, card);
    values.SetMemory(values[GpuMetric::kMemoryUsed], values[GpuMetric::kMemoryTotal]);
    card.columns.Set(values, row);
  }

  const std::string root_;
  const std::span<const CardRow> rows_;  // a vendor's table
  std::vector<Card> cards_;
};

}  // namespace

Result<std::unique_ptr<Collector>> MakeCardCollector(const std::string& root,
                                                     std::span<const DrmCard> cards,
                                                     std::span<const CardRow> rows) {
  if (cards.empty()) return NotFound("no card");
  std::vector<Card> opened;
  for (const DrmCard& card : cards) opened.push_back(OpenCard(root, card, rows));
  return std::unique_ptr<Collector>(std::make_unique<CardCollector>(root, rows, std::move(opened)));
}

}  // namespace stepscope
