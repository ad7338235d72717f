#include "rules/stats/window_values.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "core/wire/bytes.h"

namespace stepscope {
namespace {

// The most values that are kept where samples come faster than expected.
constexpr std::size_t kFull = 4 * WindowValues::kMost;

double NearestRank(std::vector<double> values, double share) {
  const auto rank = std::max(0.0, std::ceil(share * static_cast<double>(values.size())) - 1);
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(rank);
  std::ranges::nth_element(values, place);
  return *place;
}

}  // namespace

std::string WindowValues::Kept::Save() const {
  std::string bytes;
  for (const double value : values) Put(bytes, std::bit_cast<std::uint64_t>(value));
  return bytes;
}

Status WindowValues::Kept::Load(std::string_view packed) {
  constexpr std::size_t kBytes = sizeof(double);
  values.clear();
  if (packed.size() % kBytes != 0 || packed.size() > kFull * kBytes) {
    return Invalid("state: the values of a window are cut or too many");
  }
  for (ByteReader reader(packed); reader.left() > 0;) {
    values.push_back(std::bit_cast<double>(reader.Take<std::uint64_t>()));
  }
  const bool finite = std::ranges::all_of(values, [](double each) { return std::isfinite(each); });
  return finite ? Status() : Invalid("state: a value of a window is no number");
}

void WindowValues::Add(double value, Aggregation aggregation, std::int64_t window) {
  least_ = count_ == 0 ? value : std::min(least_, value);
  most_ = count_ == 0 ? value : std::max(most_, value);
  sum_ += value;
  const std::int64_t stride = (window + kMost - 1) / kMost;
  if (aggregation >= Aggregation::kP5 && count_ % stride == 0 && kept_.values.size() < kFull) {
    kept_.values.push_back(value);
  }
  ++count_;
}

double WindowValues::Of(Aggregation aggregation) const {
  switch (aggregation) {
    case Aggregation::kMean:
      return sum_ / static_cast<double>(count_);
    case Aggregation::kMin:
      return least_;
    case Aggregation::kMax:
      return most_;
    case Aggregation::kP5:
      return NearestRank(kept_.values, 0.05);
    case Aggregation::kP50:
      return NearestRank(kept_.values, 0.5);
    case Aggregation::kP95:
      return NearestRank(kept_.values, 0.95);
  }
  return 0;
}

}  // namespace stepscope
