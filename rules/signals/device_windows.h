#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rules/engine/state.h"
#include "rules/signals/initialisation.h"
#include "rules/signals/training_time.h"
#include "rules/stats/statistics.h"

namespace stepscope {

// The last `window` percentages of each device of some metrics. Samples of a node from before its
// first training step are forgotten.
class DeviceWindows {
 public:
  struct Window {
    SlidingPercentiles values;
    Time last{};         // time of the newest sample
    bool fresh = false;  // samples came since EndScan

    double P(int percent) const { return values.Percentile(percent / 100.0); }
    template <typename State>
    void Fields(State& state) {
      state("window", values);
      state("last", last);
      state("fresh", fresh);
    }
  };
  using ByDevice = std::map<Subject, Window, std::less<>>;

  DeviceWindows(std::span<const std::string_view> metrics, std::int64_t window)
      : metrics_(metrics), window_(static_cast<std::size_t>(window)), windows_(metrics.size()) {}

  // Shows each tick to `start`, too. Samples of before the first step of a new start are forgotten
  // where `training` is given.
  void Observe(const TickView& ticks, Initialisation& start, TrainingTime* training = nullptr,
               Duration interval = {});
  void EndScan();

  const ByDevice& Of(std::size_t metric) const { return windows_[metric]; }
  const Window* Find(std::size_t metric, const Subject& subject) const;
  // The device's window, when it is full and has samples since the last scan.
  const Window* Full(std::size_t metric, const Subject& subject) const;
  // Why no GPU was judged by the metric.
  std::string Unjudged(std::size_t metric, const JobFacts& facts,
                       const Initialisation& start) const;

  template <typename State>
  void Fields(State& state) {
    for (std::size_t i = 0; i < metrics_.size(); ++i) {
      state(metrics_[i], windows_[i], [this] { return NewWindow(); });
    }
  }

 private:
  Window NewWindow() const { return {SlidingPercentiles(window_)}; }
  ByDevice::iterator At(std::size_t metric, std::string_view node, const std::string& device,
                        ByDevice::iterator next);
  static void Add(const TickView& ticks, std::size_t first, const Column& column, Window& window);

  std::span<const std::string_view> metrics_;
  std::size_t window_;
  std::vector<ByDevice> windows_;  // by metric
};

}  // namespace stepscope
