#include "server/store/rollups/rollup_fold.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "server/store/ticks/scaled_column.h"

namespace stepscope {
namespace {

std::size_t BinsOf(const RollupKey& key) {
  const RollupLevel* level = LevelFor(key.bin_us);
  return level ? static_cast<std::size_t>(level->chunk_us / level->bin_us) : 1;
}

}  // namespace

RollupFold::RollupFold(const RollupKey& key) : key_(key), means_(BinsOf(key)) {}

// Folds a series at a time: the bins of all series would be a hundred megabytes of a large node.
void RollupFold::AddNode(std::span<const TickTable> tables) {
  using Part = std::pair<const TickTable*, RollupDevice>;
  std::map<std::string_view, std::vector<Part>> devices;
  for (const TickTable& table : tables) {
    for (const RollupDevice& device : DevicesOf(table)) {
      devices[*device.device].emplace_back(&table, device);
    }
  }
  std::vector<Samples> line;
  for (const auto& [name, parts] : devices) {
    line.assign(means_.size(), {});
    for (const auto& [table, device] : parts) Collect(*table, device, line);
    AddSeries(line);
  }
}

void RollupFold::Collect(const TickTable& table, const RollupDevice& device,
                         std::vector<Samples>& line) {
  scale_ = std::max(scale_, device.least->scale);
  // Gives each column the scale at which its largest value fits.
  const ScaledColumn leasts(device.least), greatests(device.greatest), sums(device.sum);
  for (std::size_t row = 0; row < table.at_us.size(); ++row) {
    if (!device.count->Has(row) || table.at_us[row] < key_.chunk_us) continue;
    const auto bin = static_cast<std::size_t>((table.at_us[row] - key_.chunk_us) / key_.bin_us);
    if (bin >= line.size()) continue;
    Samples& samples = line[bin];
    const double least = leasts[row], greatest = greatests[row];
    samples.least = samples.count > 0 ? std::min(samples.least, least) : least;
    samples.greatest = samples.count > 0 ? std::max(samples.greatest, greatest) : greatest;
    samples.count += static_cast<double>(device.count->values[row]);
    samples.sum += sums[row];
  }
}

void RollupFold::AddSeries(const std::vector<Samples>& line) {
  bool some = false;
  for (std::size_t bin = 0; bin < line.size(); ++bin) {
    const Samples& samples = line[bin];
    if (samples.count <= 0) continue;
    some = true;
    Means& means = means_[bin];
    means.least = means.series > 0 ? std::min(means.least, samples.least) : samples.least;
    means.greatest =
        means.series > 0 ? std::max(means.greatest, samples.greatest) : samples.greatest;
    means.most = std::max(means.most, samples.count);
    means.sum += samples.sum / samples.count;
    ++means.series;
  }
  if (some) ++series_;
}

FoldedRollup RollupFold::Take() const {
  FoldedRollup folded{key_, series_, scale_, {}};
  for (std::size_t bin = 0; bin < means_.size(); ++bin) {
    const Means& means = means_[bin];
    if (means.series == 0) continue;
    folded.bins.push_back({key_.chunk_us + static_cast<std::int64_t>(bin) * key_.bin_us, means.most,
                           means.most * means.series, means.most * means.sum, means.least,
                           means.greatest});
  }
  return folded;
}

std::vector<StoredRollup> RollUpTicks(const TickTable& ticks, const RollupLevel& level) {
  std::vector<StoredRollup> rows;
  for (std::size_t first = 0, last = 0; first < ticks.series.size(); first = last) {
    const std::string& metric = ticks.series[first].metric;
    while (last < ticks.series.size() && ticks.series[last].metric == metric) ++last;
    for (auto from = ticks.at_us.begin(); from != ticks.at_us.end();) {
      const std::int64_t chunk_us = *from - *from % level.chunk_us;
      const auto to = std::lower_bound(from, ticks.at_us.end(), chunk_us + level.chunk_us);
      const TickTable part =
          SliceTicks(ticks, first, last, static_cast<std::size_t>(from - ticks.at_us.begin()),
                     static_cast<std::size_t>(to - ticks.at_us.begin()));
      if (!part.at_us.empty()) {
        rows.push_back({{level.bin_us, metric, chunk_us}, RollUp(part, level.bin_us)});
      }
      from = to;
    }
  }
  return rows;
}

}  // namespace stepscope
