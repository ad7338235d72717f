#include "rules/signals/host_activity.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "rules/engine/packing.h"
#include "rules/stats/columns.h"

namespace stepscope {
namespace {

constexpr std::string_view kMetrics[] = {
    "node_cpu_percent", "disk_write_bytes_per_second", "nfs_write_bytes_per_second",
    "process_write_bytes_per_second", "network_send_bytes_per_second"};
constexpr std::size_t kUsual = 600;        // samples that define the usual level
constexpr std::size_t kLeastSamples = 20;  // samples needed before any is unusual
constexpr double kMoreCores = 0.5;  // cores that compute, and more of them than in most samples
constexpr double kMostSamples = 0.8;
constexpr double kAbove = 4, kLeastRate = 1e6;  // times the median, and bytes/s
constexpr double kUnits[] = {1, 1e3, 1e3};      // units in which values are kept, by sign

// The sum over devices; none when no device has a sample.
std::optional<double> Sum(const TickView& ticks, std::string_view metric, std::size_t row) {
  std::optional<double> sum;
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    if (ticks.series[i].metric != metric || !ticks.columns[i].Has(row)) continue;
    sum = sum.value_or(0) + ticks.columns[i].At(row);
  }
  return sum;
}

}  // namespace

std::span<const std::string_view> HostActivity::Metrics() {
  return kMetrics;
}

HostActivity::HostActivity(Duration interval)
    : slot_(std::max(interval, Duration(500ms))),
      usual_{SlidingPercentiles(kUsual), SlidingPercentiles(kUsual), SlidingPercentiles(kUsual)} {}

// Writes of a process stay in memory for a while: the process's own count is as good as the disk's.
void HostActivity::Observe(const TickView& ticks) {
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    if (const auto cpu = Sum(ticks, kMetrics[0], row)) Add(0, at, *cpu * 100);
    std::optional<double> written;
    for (std::size_t i = 1; i <= 3; ++i) {
      const auto sum = Sum(ticks, kMetrics[i], row);
      if (sum) written = std::max(written.value_or(0), *sum);
    }
    if (written) Add(1, at, *written);
    if (const auto sent = Sum(ticks, kMetrics[4], row)) Add(2, at, *sent);
  }
}

void HostActivity::Add(std::size_t sign, Time at, double value) {
  const double amount = std::max(value, 0.0);
  usual_[sign].Add(sign == 0 ? PercentBin(amount / 100) : AmountBin(amount));
  Slot& slot = slots_.by_index[at.time_since_epoch() / slot_];
  slot.sums[sign] += static_cast<std::uint64_t>(std::min(amount / kUnits[sign], 1e15));
  ++slot.counts[sign];
  if (slots_.by_index.size() > kMostSlots) slots_.by_index.erase(slots_.by_index.begin());
}

bool HostActivity::StandsOut(std::size_t sign, double mean, int cores) const {
  const SlidingPercentiles& usual = usual_[sign];
  if (usual.size() < kLeastSamples) return false;
  if (sign > 0) return mean > std::max(kLeastRate, kAbove * BinAmount(usual.Bin(0.5)));
  const double percent = mean / 100;
  return percent >= usual.Percentile(kMostSamples) &&
         percent >= usual.Percentile(0.5) + kMoreCores * 100 / std::max(cores, 1);
}

// A sample tells of the interval before it.
unsigned HostActivity::SignsOf(Time from, Time to, int cores) const {
  const auto first = slots_.by_index.upper_bound(from.time_since_epoch() / slot_);
  const auto last = slots_.by_index.upper_bound(Until(to).time_since_epoch() / slot_);
  Slot all;
  for (auto slot = first; slot != last; ++slot) {
    for (std::size_t i = 0; i < kSigns; ++i) {
      all.sums[i] += slot->second.sums[i];
      all.counts[i] += slot->second.counts[i];
    }
  }
  unsigned signs = 0;
  for (std::size_t i = 0; i < kSigns; ++i) {
    if (all.counts[i] == 0) continue;
    signs |= kSeen;
    const double mean =
        kUnits[i] * static_cast<double>(all.sums[i]) / static_cast<double>(all.counts[i]);
    if (StandsOut(i, mean, cores)) signs |= 2U << i;
  }
  return signs;
}

// Saves each index as its distance from the one before.
std::string HostActivity::Slots::Save() const {
  std::vector<std::uint64_t> numbers;
  std::int64_t before = 0;
  for (const auto& [index, slot] : by_index) {
    numbers.push_back(static_cast<std::uint64_t>(index - std::exchange(before, index)));
    numbers.insert(numbers.end(), slot.sums.begin(), slot.sums.end());
    numbers.insert(numbers.end(), slot.counts.begin(), slot.counts.end());
  }
  return PackNumbers(numbers);
}

Status HostActivity::Slots::Load(std::string_view packed) {
  constexpr std::size_t kNumbers = 1 + 2 * kSigns;
  const auto numbers = UnpackNumbers(packed, kNumbers * kMostSlots);
  if (!numbers.ok()) return numbers.error();
  if (numbers->size() % kNumbers != 0) return Invalid("state: samples of a host are no rows");
  by_index.clear();
  std::uint64_t index = 0;
  for (auto number = numbers->begin(); number != numbers->end();) {
    index += *number++;
    Slot slot;
    for (std::uint64_t& sum : slot.sums) sum = *number++;
    for (std::uint64_t& count : slot.counts) count = *number++;
    by_index.emplace_hint(by_index.end(), static_cast<std::int64_t>(index), slot);
  }
  return {};
}

std::string SignsText(unsigned signs) {
  std::string text;
  for (const auto& [sign, words] :
       {std::pair(HostActivity::kCpu, "CPU use"), std::pair(HostActivity::kWrite, "disk writes"),
        std::pair(HostActivity::kSend, "network sends")}) {
    if ((signs & sign) == 0) continue;
    text += text.empty() ? words : std::string(" and ") + words;
  }
  return text;
}

}  // namespace stepscope
