#include "server/ingest/check/block_capacity.h"

#include <algorithm>
#include <numeric>
#include <span>

#include "core/base/text.h"
#include "server/store/ticks/blocks.h"

namespace stepscope {
namespace {

constexpr std::int64_t kRows = kBlockLimits.rows, kCells = kBlockLimits.cells;
// The shortest times between two values that give a rate.
constexpr std::int64_t kOfADeviceUs = 1'000'000, kOfAllUs = 10'000'000;

std::int64_t MostInstants(std::int64_t devices) {
  return std::min(kRows, kCells / (devices + 1));
}

// Whether ascending times of one window have a higher rate than `most` in 600 s between any two
// that are `least_us` apart. Between such two the number of instants rises faster than the room for
// them, so for each time the difference of both is compared with the least one before it.
bool IsStretchTooDense(std::span<const std::int64_t> at_us, std::int64_t most,
                       std::int64_t least_us) {
  const auto ahead = [&](std::size_t i) {
    return static_cast<std::int64_t>(i) * kBlockWindowUs - (at_us[i] - at_us.front()) * most;
  };
  std::int64_t least = INT64_MAX;
  std::size_t before = 0;
  for (std::size_t i = 0; i < at_us.size(); ++i) {
    for (; at_us[i] - at_us[before] >= least_us; ++before) least = std::min(least, ahead(before));
    if (ahead(i) > least) return true;
  }
  return false;
}

bool IsTooDense(const std::vector<std::int64_t>& at_us, std::int64_t most, std::int64_t least_us) {
  for (auto rest = std::span(at_us); !rest.empty();) {
    const auto end = std::ranges::lower_bound(rest, BlockWindowOf(rest.front()) + kBlockWindowUs);
    const auto window = rest.first(static_cast<std::size_t>(end - rest.begin()));
    if (std::ssize(window) > most || IsStretchTooDense(window, most, least_us)) return true;
    rest = rest.subspan(window.size());
  }
  return false;
}

std::string Detail(std::int64_t devices) {
  const std::string most = Format("more than {} instants in 600 s", MostInstants(devices));
  return devices < 2 ? most + " cannot be kept"
                     : most + Format(" cannot be kept of {} devices", devices);
}

}  // namespace

BlockCapacity::BlockCapacity(const std::vector<std::int64_t>& at_us)
    : at_us_(at_us), order_(at_us.size()) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  if (std::ranges::is_sorted(at_us)) return;
  std::ranges::sort(order_, {}, [&](std::size_t row) { return at_us[row]; });
}

void BlockCapacity::Add(std::string_view metric, const std::vector<std::uint8_t>& present) {
  auto found = metrics_.find(metric);
  if (found == metrics_.end()) {
    found = metrics_.emplace(metric, Rows{0, std::string(at_us_.size(), '\0'), {}}).first;
  }
  Rows& rows = found->second;
  ++rows.devices;
  rows.of_a_device.emplace(present.begin(), present.end());
  if (present.empty()) std::ranges::fill(rows.some, '\1');
  for (std::size_t i = 0; i < present.size(); ++i) {
    if (present[i] != 0) rows.some[i] = '\1';
  }
}

std::optional<BlockCapacity::Fault> BlockCapacity::Find() const {
  if (IsTooDense(TimesOf({}), MostInstants(0), kOfAllUs)) return Fault{"", Detail(0)};
  for (const auto& [metric, rows] : metrics_) {
    const std::int64_t most = MostInstants(rows.devices);
    const auto is_dense = [&](const auto& some) {
      return IsTooDense(TimesOf(some), most, kOfADeviceUs);
    };
    if (IsTooDense(TimesOf(rows.some), most, kOfAllUs) ||
        std::ranges::any_of(rows.of_a_device, is_dense)) {
      return Fault{metric, Detail(rows.devices)};
    }
  }
  return std::nullopt;
}

// The times of some rows, ascending and each once; of all rows when none are given.
std::vector<std::int64_t> BlockCapacity::TimesOf(std::string_view some) const {
  std::vector<std::int64_t> times;
  for (const std::size_t row : order_) {
    if (!some.empty() && some[row] == 0) continue;
    if (times.empty() || times.back() != at_us_[row]) times.push_back(at_us_[row]);
  }
  return times;
}

bool AreFarApart(const std::vector<std::int64_t>& at_us, std::size_t columns) {
  const std::int64_t most = MostInstants(static_cast<std::int64_t>(columns) - 1);
  const auto close = [most](std::int64_t one, std::int64_t next) {
    return next - one < kBlockWindowUs && (next - one) * most < kBlockWindowUs;
  };
  return std::ranges::adjacent_find(at_us, close) == at_us.end();
}

}  // namespace stepscope
