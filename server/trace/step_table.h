#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/base/result.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// What each kernel and each operator took in each step: what two windows are compared by.
struct StepTableRow {
  std::string name;
  double calls = 0;  // a step, mean
  std::vector<double>
      seconds;  // by step: of a kernel its time, of an operator its own time on the CPU
};
struct StepTable {
  std::vector<double> walls;                     // seconds of each step, as the breakdown has them
  std::vector<StepTableRow> kernels, operators;  // the longest first
};
inline constexpr std::size_t kMostStepTableRows = 2'000;  // of each list; shorter ones are left out
inline constexpr std::size_t kMostStepTableSteps = 64;    // further steps are left out

// Spans outside of steps are left out. A step is as long as the breakdown says: that of the
// devices, the mean where there are several; of the host where no device worked in a step.
StepTable MakeStepTable(const TraceLinks& links);
OrderedJson ToJson(const StepTable& table);
// Invalid where the text is not from ToJson.
Result<StepTable> ReadStepTable(std::string_view text);

}  // namespace stepscope
