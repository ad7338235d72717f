#include "server/ingest/density.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/store/blocks.h"

namespace stepscope {
namespace {

constexpr std::int64_t kRows = kBlockLimits.rows, kCells = kBlockLimits.cells;
constexpr std::int64_t kStretches = 2'048;  // of a block
constexpr std::int64_t kLeastStretch = 2;   // intervals

// The mean interval of the first stretch that is too dense for so many devices.
std::optional<std::int64_t> DenseEvery(const std::vector<std::int64_t>& at_us,
                                       std::int64_t devices) {
  const std::int64_t most = std::min(kRows, kCells / (devices + 1));
  const std::int64_t stretch = std::max(kLeastStretch, most / kStretches);
  for (std::int64_t i = stretch; i < std::ssize(at_us); ++i) {
    const std::int64_t took_us =
        at_us[static_cast<std::size_t>(i)] - at_us[static_cast<std::size_t>(i - stretch)];
    if (took_us < kWindowUs && took_us * most < stretch * kWindowUs) return took_us / stretch;
  }
  return std::nullopt;
}

std::string WordsFor(std::int64_t every_us) {
  if (every_us * kRows < kWindowUs) {
    return Format("more often than every {} us cannot be kept", kWindowUs / kRows + 1);
  }
  const std::int64_t devices = kCells / ((kWindowUs + every_us - 1) / every_us) - 1;
  return every_us < 10'000
             ? Format("more than {} devices every {} us cannot be kept", devices, every_us)
             : Format("more than {} devices every {} ms cannot be kept", devices, every_us / 1'000);
}

// Those of some rows, ascending and each once.
std::vector<std::int64_t> TimesOf(const std::vector<std::int64_t>& at_us,
                                  const std::vector<std::uint8_t>& some) {
  std::vector<std::int64_t> times;
  for (std::size_t row = 0; row < at_us.size(); ++row) {
    if (some.empty() || some[row] != 0) times.push_back(at_us[row]);
  }
  std::ranges::sort(times);
  const auto twice = std::ranges::unique(times);
  times.erase(twice.begin(), twice.end());
  return times;
}

}  // namespace

void Density::Add(std::string_view metric, const std::vector<std::uint8_t>& present) {
  auto found = metrics_.find(metric);
  if (found == metrics_.end()) {
    found = metrics_.emplace(metric, Rows{0, std::vector<std::uint8_t>(at_us_.size(), 0)}).first;
  }
  Rows& rows = found->second;
  ++rows.devices;
  if (present.empty()) std::ranges::fill(rows.some, 1);
  for (std::size_t i = 0; i < present.size(); ++i) rows.some[i] |= present[i];
}

std::optional<Density::Fault> Density::Find() const {
  if (const auto every_us = DenseEvery(TimesOf(at_us_, {}), 0)) {
    return Fault{"", WordsFor(*every_us)};
  }
  for (const auto& [metric, rows] : metrics_) {
    const auto devices = static_cast<std::int64_t>(rows.devices);
    const auto every_us = DenseEvery(TimesOf(at_us_, rows.some), devices);
    if (every_us) return Fault{metric, WordsFor(*every_us)};
  }
  return std::nullopt;
}

bool AreFarApart(const std::vector<std::int64_t>& at_us, std::size_t columns) {
  const std::int64_t most = std::min(kRows, kCells / static_cast<std::int64_t>(columns));
  const auto close = [most](std::int64_t one, std::int64_t next) {
    return next - one < kWindowUs && (next - one) * most < kWindowUs;
  };
  return std::ranges::adjacent_find(at_us, close) == at_us.end();
}

}  // namespace stepscope
