#include "bench/series.h"

#include <algorithm>

namespace stepscope {
namespace {

using enum Course;

constexpr std::int64_t kPage = 4'096;
constexpr std::int64_t kFull = 10'000;  // 100 % at scale 2
constexpr std::int64_t kJiffy = 200;    // one of 50 in half a second
constexpr std::int64_t kPercent = 100;  // GPUs round to it

constexpr Shape kShapes[] = {
    {"node_cpu_percent", kSmooth, 3'500, 800},
    {"node_iowait_percent", kSmooth, 3, 3},
    {"cpu_util_percent", kCore, 0, kFull, kJiffy},
    {"cpu_iowait_percent", kBursts, 400, 400, kJiffy},
    {"load_1m", kSmooth, 2'400, 300},
    {"memory_used_percent", kSmooth, 4'180, 20},
    {"memory_used_bytes", kPages, 225'000'000'000, 4'000'000'000, kPage},
    {"memory_total_bytes", kConstant, 540'000'000'000},
    {"swap_used_bytes", kConstant},
    {"pressure_cpu_percent", kSmooth, 120, 90},
    {"pressure_memory_percent", kConstant},
    {"pressure_memory_full_percent", kConstant},
    {"pressure_io_percent", kSmooth, 10, 10},
    {"pressure_io_full_percent", kConstant},
    {"disk_read_bytes_per_second", kBursts, 60'000'000, 60'000'000, 2 * kPage},
    {"disk_write_bytes_per_second", kBursts, 20'000'000, 20'000'000, 2 * kPage},
    {"disk_busy_percent", kBursts, 1'000, 1'000, 40},
    {"network_receive_bytes_per_second", kSmooth, 400'000'000, 50'000'000, 2},
    {"network_send_bytes_per_second", kSmooth, 300'000'000, 50'000'000, 2},
    {"gpu_util_percent", kSmooth, 9'400, 600, kPercent},
    {"gpu_memory_used_percent", kSmooth, 7'830, 2},
    {"gpu_memory_busy_percent", kSmooth, 4'800, 900, kPercent},
    {"gpu_power_watts", kSmooth, 6'100, 6'000},
    {"gpu_temperature_celsius", kSmooth, 66, 3},
    {"gpu_sm_clock_mhz", kSmooth, 1'875, 105, 15},
};

const Shape* FindShape(std::string_view metric) {
  const auto* found = std::ranges::find(kShapes, metric, &Shape::metric);
  return found == std::end(kShapes) ? nullptr : found;
}

Shape ShapeOf(std::string_view metric) {
  const Shape* found = FindShape(metric);
  return found ? *found : Shape{metric, kSmooth, 5'000, 500};
}

}  // namespace

std::vector<Metric> SampledMetrics() {
  std::vector<Metric> metrics(Metrics().begin(), Metrics().end());
  std::erase_if(metrics, [](const Metric& metric) { return !FindShape(metric.name); });
  return metrics;
}

SampledSeries::SampledSeries(const Metric& metric, std::mt19937_64& random)
    : random_(random),
      shape_(ShapeOf(metric.name)),
      scale_(metric.scale),
      value_(shape_.centre - shape_.centre % shape_.grain),
      target_(value_) {
  if (shape_.course == kCore) target_ = kFull * Below(2);
}

std::int64_t SampledSeries::Below(std::int64_t end) {
  return static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(end));
}

// A core rests, works or does some of both for minutes, and is a jiffy off now and then.
std::int64_t SampledSeries::NextCore() {
  if (Chance(400)) target_ = Chance(2) ? kJiffy * Below(51) : kFull * Below(2);
  const bool mixed = target_ % kFull != 0;
  if (!mixed && !Chance(3)) return target_;
  const std::int64_t most = mixed ? 8 : 3;
  const std::int64_t off = kJiffy * (Below(most) - Below(most));
  return std::clamp<std::int64_t>(target_ + off, 0, kFull);
}

// Drifts towards a level that changes every few minutes; the noise is a tenth of the spread.
std::int64_t SampledSeries::NextSmooth() {
  const std::int64_t noise = std::max<std::int64_t>(shape_.spread / 10, 1);
  if (Chance(500)) target_ = shape_.centre + Below(2 * shape_.spread + 1) - shape_.spread;
  value_ += (target_ - value_) / 8 + Below(noise + 1) - Below(noise + 1);
  value_ = std::clamp(value_, shape_.centre - shape_.spread, shape_.centre + shape_.spread);
  return value_ - value_ % shape_.grain;
}

std::int64_t SampledSeries::Next() {
  switch (shape_.course) {
    case kConstant:
      return value_;
    case kCore:
      return NextCore();
    case kSmooth:
      return NextSmooth();
    case kPages:
      if (Chance(2)) value_ += shape_.grain * (Below(400) - 180);
      if (value_ > shape_.centre + shape_.spread) value_ -= 2 * shape_.spread;
      return value_;
    case kBursts:  // seconds of work between minutes of rest
      if (Chance(target_ == 0 ? 120 : 10)) target_ = target_ == 0 ? 1 : 0;
      return target_ == 0 ? 0 : shape_.grain * Below((2 * shape_.spread) / shape_.grain);
  }
  return value_;
}

}  // namespace stepscope
