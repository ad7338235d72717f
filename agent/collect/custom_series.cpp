#include "agent/collect/custom_series.h"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/model/metric.h"

namespace stepscope {
namespace {

std::uint8_t ScaleOf(double value) {
  const double digits = std::abs(value) < 1 ? 0 : std::ceil(std::log10(std::abs(value)));
  return static_cast<std::uint8_t>(std::clamp(15.0 - digits, 0.0, 9.0));
}

}  // namespace

void CustomSeries::Set(double value, TickRow& row) {
  if (!std::isfinite(value)) return;
  if (column_ == TickRow::kNoColumn) {
    const std::uint8_t scale = ScaleOf(value);
    column_ = row.AddCustom(metric_, scale, device_);
    most_ = 9e18 / std::pow(10.0, scale);
  }
  if (std::abs(value) < most_) row.Set(column_, value);
}

bool HasCustom(const TickRow& row) {
  for (std::size_t i = 0; i < row.size(); ++i) {
    if (row.Has(i) && IsCustomMetric(row.series()[i].metric)) return true;
  }
  return false;
}

}  // namespace stepscope
