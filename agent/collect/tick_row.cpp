#include "agent/collect/tick_row.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>

#include "core/model/metric.h"
#include "core/wire/frame.h"

namespace stepscope {
namespace {

constexpr std::size_t kLongestDevice = 63;

}  // namespace

std::size_t TickRow::Add(std::string_view metric, std::string_view device) {
  const Metric* known = FindMetric(metric);
  assert(known != nullptr);
  return Append(metric, known->scale, device);
}

std::size_t TickRow::AddCustom(std::string_view metric, std::uint8_t scale,
                               std::string_view device) {
  assert(IsCustomMetric(metric));
  return Append(metric, scale, device);
}

std::size_t TickRow::Append(std::string_view metric, std::uint8_t scale, std::string_view device) {
  if (series_.size() >= kMaxSeriesPerFrame || device.size() > kLongestDevice) return kNoColumn;
  series_.push_back({std::string(metric), std::string(device)});
  scales_.push_back(scale);
  values_.push_back(0);
  present_.push_back(0);
  return series_.size() - 1;
}

void TickRow::Set(std::size_t column, double value) {
  if (column == kNoColumn || !std::isfinite(value)) return;
  values_[column] = ToScaled(value, scales_[column]);
  present_[column] = 1;
}

void TickRow::Copy(std::size_t column, const TickRow& from, std::size_t there) {
  if (column == kNoColumn) return;
  values_[column] = from.values_[there];
  present_[column] = from.present_[there];
}

void TickRow::Clear() {
  std::ranges::fill(values_, 0);
  std::ranges::fill(present_, std::uint8_t{0});
}

double TickRow::At(std::string_view metric, std::string_view device) const {
  for (std::size_t i = 0; i < size(); ++i) {
    if (series_[i].metric != metric || series_[i].device != device || !Has(i)) continue;
    return static_cast<double>(values_[i]) / static_cast<double>(PowerOfTen(scales_[i]));
  }
  return std::numeric_limits<double>::quiet_NaN();
}

}  // namespace stepscope
