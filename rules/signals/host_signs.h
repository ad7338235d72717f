#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "rules/engine/rule.h"
#include "rules/signals/budget.h"

namespace stepscope {

// The signs of a host that explain why its GPUs idle. Columns are looked up once for a view, which
// outlives this.
class HostSigns {
 public:
  static std::span<const std::string_view> Metrics();

  // A thread that uses more than this much of a core cannot keep up.
  static constexpr double kBusyThread = 90;

  explicit HostSigns(const TickView& ticks);

  const std::vector<const Column*>& gpus() const { return of_[0]; }
  // The first of these causes that holds in a tick: input at its limit, output, a training thread
  // that cannot keep up, a busy core; else kUnderUse when some GPU worked. `link` keeps the speed
  // of the fastest interface, which is reported seldom.
  Cause Shown(std::size_t row, double& link, double busy_thread = kBusyThread) const;
  // Whether the row has a sample of some training thread.
  bool HasThread(std::size_t row) const;

 private:
  double Highest(std::size_t metric, std::size_t row) const;

  static constexpr std::size_t kMetrics = 10;
  std::array<std::vector<const Column*>, kMetrics> of_;
};

}  // namespace stepscope
