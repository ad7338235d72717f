#pragma once

#include <limits>
#include <string>
#include <vector>

#include "agent/collect/tick_row.h"
#include "agent/top/jobs_text.h"
#include "core/base/time.h"

namespace stepscope {

// The data that `top` shows; NaN for unknown values.
struct TopView {
  static constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

  struct Gpu {
    std::string name{};
    double percent = kUnknown, used_bytes = kUnknown, total_bytes = kUnknown, watts = kUnknown,
           celsius = kUnknown;
  };
  struct Flow {
    std::string name{};
    double in = kUnknown, out = kUnknown, busy_percent = kUnknown;  // bytes a second
  };

  std::string node{};
  Time at{};
  double cpu_percent = kUnknown, iowait_percent = kUnknown, load = kUnknown;
  std::vector<double> core_percents{};
  double memory_used = kUnknown, memory_total = kUnknown, swap_used = kUnknown;
  std::vector<Gpu> gpus{};
  std::vector<Flow> disks{}, networks{};
  std::vector<TopJob> jobs{};
  std::string remark{};  // why there are no jobs
};

// The view of a tick of the node.
TopView ViewOf(const TickRow& row, const std::string& node, Time at);

}  // namespace stepscope
