#include "rules/signals/send_bursts.h"

#include <algorithm>

namespace stepscope {
namespace {

constexpr Duration kBurstUsual = 10min, kLongest = 5min, kQuiet = 5s;
constexpr double kBurstAbove = 4, kLeastRate = 1e6;  // bytes/s
constexpr std::size_t kLeastBurstSamples = 20;       // samples needed before any is unusual

}  // namespace

SendBursts::SendBursts(Duration interval)
    : interval_(std::max(interval, Duration(1ms))),
      usual_(static_cast<std::size_t>(std::max<std::int64_t>(
          kBurstUsual / interval_, static_cast<std::int64_t>(kLeastBurstSamples)))) {}

void SendBursts::Add(Time at, double bytes_per_second) {
  const Duration elapsed = last_ ? std::min(at - *last_, interval_ * 10) : interval_;
  if (!first_) first_ = at;
  last_ = at;
  fresh_ = true;
  const double bound = std::max(kLeastRate, kBurstAbove * BinAmount(usual_.Bin(0.5)));
  const bool above = usual_.size() >= kLeastBurstSamples && bytes_per_second > bound;
  usual_.Add(AmountBin(bytes_per_second));
  if (above && !open_) {
    open_ = true;
    burst_ = {at, at, 0};
  }
  if (!open_) return;
  if (above) {
    burst_.to = at;
    burst_.bytes += bytes_per_second * std::chrono::duration<double>(elapsed).count();
  } else if (at - burst_.to >= std::max(kQuiet, interval_ * 3)) {
    Close();
  }
}

void SendBursts::Close() {
  open_ = false;
  if (burst_.to - burst_.from > kLongest) return;
  bursts_[next_++] = burst_;
  if (bursts_.size() > kMostBursts) bursts_.erase(bursts_.begin());
}

std::vector<Burst> SendBursts::Large() const {
  double most = 0;
  for (const auto& [number, burst] : bursts_) most = std::max(most, burst.bytes);
  std::vector<Burst> large;
  for (const auto& [number, burst] : bursts_) {
    if (burst.bytes >= most / 10) large.push_back(burst);
  }
  return large;
}

}  // namespace stepscope
