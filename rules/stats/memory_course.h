#pragma once

#include <chrono>
#include <cstdint>

#include "rules/engine/state.h"
#include "rules/stats/envelope.h"
#include "rules/stats/trend.h"

namespace stepscope {

// Processes of a control group that the kernel killed for want of memory. The kernel counts from
// the group's start on, which may be long before the job's.
struct GroupKills {
  std::int64_t killed = 0, told = 0;    // in the job; at the last finding
  std::int64_t from_us = 0, to_us = 0;  // the samples before and after the last kill

  void Add(Time at, double counted) {
    const auto count = static_cast<std::int64_t>(counted);
    if (counted_ >= 0 && count > counted_) {
      killed += count - counted_;
      from_us = at_us_, to_us = ToMicros(at);
    }
    counted_ = count, at_us_ = ToMicros(at);
  }
  template <typename State>
  void Fields(State& state) {
    state("killed", killed);
    state("told", told);
    state("from_us", from_us);
    state("to_us", to_us);
    state("counted", counted_);
    state("at_us", at_us_);
  }

 private:
  std::int64_t counted_ = -1, at_us_ = 0;  // count and time of the last sample
};

// The memory of one node (no device), of its control group, or of one GPU.
struct MemoryCourse {
  // A rise is steady when nearly all pairs of stretches rise.
  static constexpr double kSteady = 0.9;
  static constexpr Duration kLongestTooth = 2h;
  static constexpr double kUrgent = 80;

  Trend trend;
  Envelope envelope;
  std::int64_t fitted = 0;  // trend.complete() when the line was fitted
  double slope = 0, start = 0, end = 0, rising = 0;
  // Whether the peaks and lows of a saw rise; the line is then the one of the peaks.
  bool saw = false;
  double low_start = 0, low_end = 0;
  std::int64_t length_min = 0;  // length of the line
  double before = 0;            // use that was seldom exceeded before the line
  bool fresh = false;           // samples came since the last scan
  GroupKills kills;
  bool without_files = false;  // the use of a control group is known without them

  double HoursLeft() const { return slope <= 0 ? 1e9 : std::max(0.0, 100 - end) / slope; }
  Duration Length() const {  // a state of an earlier version has none
    return length_min > 0 ? std::chrono::minutes(length_min) : trend.FittedLength();
  }
  bool IsSteady() const { return saw || (rising >= kSteady && !MayBeTooth()); }
  // Memory that climbs where it has been before, or has only begun to, may be a tooth of a saw: it
  // grows in each epoch and falls at its end.
  bool MayBeTooth() const {
    const bool begins = trend.Length() < kLongestTooth && end < kUrgent;
    return begins || end <= before;
  }
  void Add(Time at, std::uint32_t bin) {
    trend.Add(at, bin);
    envelope.Add(at, bin);
    fresh = true;
  }
  void Fit();
  template <typename State>
  void Fields(State& state) {
    state("trend", trend);
    state.Added("envelope", envelope);
    state("fitted", fitted);
    state("slope", slope);
    state("start", start);
    state("end", end);
    state.Added("saw", saw);
    state.Added("low_start", low_start);
    state.Added("low_end", low_end);
    state.Added("length_min", length_min);
    state.Added("before", before);
    state("rising", rising);
    state("fresh", fresh);
    state.Added("without_files", without_files);
    state.Added("kills", kills);
  }
};

}  // namespace stepscope
