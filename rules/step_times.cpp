#include "rules/step_times.h"

#include <chrono>

#include "rules/packing.h"

namespace stepscope {

void StepTimes::Add(const StepTimes& other) {
  if (other.count() == 0) return;
  least_ = count() == 0 ? other.least_ : std::min(least_, other.least_);
  most_ = std::max(most_, other.most_);
  bins_.Add(other.bins_);
}

Duration StepTimes::Percentile(double share) const {
  const double amount = BinAmount(bins_.Percentile(share));
  return std::clamp(Duration(static_cast<std::int64_t>(amount)), least_, most_);
}

Json StepTimes::Seconds() const {
  const auto seconds = [](Duration time) { return std::chrono::duration<double>(time).count(); };
  return {{"max", seconds(most_)},
          {"p99", seconds(Percentile(0.99))},
          {"p95", seconds(Percentile(0.95))},
          {"p50", seconds(Percentile(0.50))},
          {"min", seconds(least_)}};
}

Json StepTimes::Save() const {
  return {PackNumbers({static_cast<std::uint64_t>(least_.count()),
                       static_cast<std::uint64_t>(most_.count())}),
          bins_.Save()};
}

Status StepTimes::Load(const Json& json) {
  if (!json.is_array() || json.size() != 2) return Invalid("state: step times are no pair");
  const auto ends = UnpackNumbers(json[0], 2);
  if (!ends.ok()) return ends.error();
  const bool fits = ends->size() == 2 && (*ends)[0] <= (*ends)[1] && (*ends)[1] <= INT64_MAX;
  if (!fits) return Invalid("state: ends of step times are out of their range");
  least_ = Duration((*ends)[0]);
  most_ = Duration((*ends)[1]);
  return bins_.Load(json[1]);
}

}  // namespace stepscope
