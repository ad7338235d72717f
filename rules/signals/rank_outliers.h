#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "rules/engine/state.h"
#include "rules/signals/step_sums.h"
#include "rules/signals/step_times.h"
#include "rules/stats/statistics.h"

namespace stepscope {

// Outliers in a row that no usual step has followed yet.
struct OutlierRun {
  StepSums sums;
  double excess_s = 0;
  std::optional<Time> from, to;
  std::map<std::int64_t, double, std::less<>> seconds;  // by number

  template <typename State>
  void Fields(State& state) {
    state("sums", sums);
    state("excess_s", excess_s);
    state("from", from);
    state("to", to);
    state("seconds", seconds, [] { return 0.0; });
  }
};

// The steps of a rank, and the outliers among them.
struct RankOutliers {
  static constexpr std::size_t kRecentSteps = 256;  // a step is compared with so many
  static constexpr std::size_t kMostNumbers = 20;   // longest outliers that are named
  // A rank is active, and its finding goes on, while its newest outlier is no older than this.
  static constexpr Duration kRecent = 10min;

  std::string node;
  std::int64_t seen = 0;
  double mean_s = 0, squares = 0;  // mean and sum of squares of the steps after warm-up (Welford)
  StepTimes times;
  SlidingPercentiles recent{kRecentSteps};  // bins of nanoseconds
  StepSums usual, slow;
  OutlierRun run;
  std::int64_t between = 0;                           // steps that nearly stood out
  double excess_s = 0;                                // step time of outliers above the mean
  std::map<std::int64_t, double, std::less<>> worst;  // seconds of the longest outliers, by number
  // Begin of the first outlier; ends of the newest outlier, of the newest step, and of the step at
  // which it fired.
  std::optional<Time> first, newest, last, fired;

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state("seen", seen);
    state("mean_s", mean_s);
    state("squares", squares);
    state("times", times);
    state.Added("recent", recent);
    state.Added("run", run);
    state.Added("between", between);
    state("usual", usual);
    state("slow", slow);
    state("excess_s", excess_s);
    state("worst", worst, [] { return 0.0; });
    state("first", first);
    state("newest", newest);
    state("last", last);
    state("fired", fired);
  }

  std::int64_t Judged() const { return times.count(); }
  double Sigma() const {
    return Judged() < 2 ? 0 : std::sqrt(squares / static_cast<double>(Judged() - 1));
  }
  // The step time after warm-up, never 0.
  double WallSeconds() const {
    return std::max(ToSeconds(usual.wall()) + ToSeconds(slow.wall()), 1e-9);
  }
  // The time of outliers above the mean, as a part of the step time, 0 to 1.
  double Cost() const { return std::min(1.0, excess_s / WallSeconds()); }
  // By how far the 95th percentile of the recent steps is above their median.
  double Spread() const { return Recent(0.95) - Recent(0.5); }
  double Recent(double share) const { return BinAmount(recent.Bin(share)) / 1e9; }
  bool IsActive() const { return fired && *last - *newest <= kRecent; }
  void Add(const Step& step, Duration length);
  void TakeRun();
  void Remember(std::int64_t number, double seconds);
};

inline void RankOutliers::Add(const Step& step, Duration length) {
  const double seconds = std::chrono::duration<double>(length).count();
  times.Add(length);
  const double before = seconds - mean_s;
  mean_s += before / static_cast<double>(Judged());
  squares += before * (seconds - mean_s);
  recent.Add(AmountBin(static_cast<double>(length.count())));
  last = EndedAt(step);
}

inline void RankOutliers::TakeRun() {
  slow.Add(run.sums);
  excess_s += run.excess_s;
  for (const auto& [number, seconds] : run.seconds) Remember(number, seconds);
  if (!first) first = run.from;
  newest = run.to;
  run = OutlierRun();
}

inline void RankOutliers::Remember(std::int64_t number, double seconds) {
  worst[number] = seconds;
  if (worst.size() <= kMostNumbers) return;
  worst.erase(std::ranges::min_element(
      worst, {}, [](const auto& each) { return std::pair(each.second, -each.first); }));
}

}  // namespace stepscope
