#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// What a step would take if a kind of its time were shorter or gone.
//
// Between the two ends of each row lies what the recording leaves open: whether work of one stream
// waits for another's (the worst case takes each order that was seen for a wait), and whether
// threads that recorded nothing had work to do. Nothing is said of what a change does to the rest:
// work that takes longer because other work runs beside it, ranks that wait for this one.
struct WhatIfRow {
  std::string change;                      // a word of kWhatIfChanges
  std::string kernel;                      // the name, where a kernel is changed
  double left = 0;                         // 0 is without that time
  std::int64_t best_ns = 0, worst_ns = 0;  // a step
};
struct WhatIf {
  bool of_device = false;    // false: the window has no work of a device, and the host is replayed
  std::size_t steps = 0;     // that the numbers are of
  std::int64_t step_ns = 0;  // recorded, mean
  std::vector<WhatIfRow> rows = {};
  std::string_view unknown = {};  // why there are no rows; "" where there are
};
inline constexpr std::string_view kWhatIfChanges[] = {
    "communication",    // kernels that communicate, their waits for other ranks included
    "copies",           // copies and sets
    "data",             // the host's waits for data
    "synchronization",  // the host's waits for the device
    "launches",         // the device's waits for the host
    "host",             // what the host does outside of its waits
    "computing",        // kernels that do not communicate
    "kernel",           // kernels of one name
};
inline constexpr std::size_t kMostWhatIfKernels = 5;  // those with the most time

WhatIf MakeWhatIf(const TraceLinks& links);
OrderedJson ToJson(const WhatIf& what_if);

}  // namespace stepscope
