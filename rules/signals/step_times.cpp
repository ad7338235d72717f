#include "rules/signals/step_times.h"

#include <chrono>

#include "core/wire/bytes.h"

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

std::string StepTimes::Save() const {
  std::string bytes;
  PutVarint(bytes, static_cast<std::uint64_t>(least_.count()));
  PutVarint(bytes, static_cast<std::uint64_t>(most_.count()));
  return bytes + bins_.Save();
}

Status StepTimes::Load(std::string_view packed) {
  ByteReader reader(packed);
  const std::uint64_t least = reader.TakeVarint(), most = reader.TakeVarint();
  const bool fits = reader.ok() && least <= most && most <= INT64_MAX;
  if (!fits) return Invalid("state: ends of step times are out of their range");
  least_ = Duration(least);
  most_ = Duration(most);
  return bins_.Load(reader.rest());
}

}  // namespace stepscope
