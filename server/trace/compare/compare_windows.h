#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/trace/step_table.h"

namespace stepscope {

// Two windows side by side: what a step takes in each, by kernel and by operator.

enum class WindowChange { kAdded, kGone, kSlower, kFaster, kSame, kUnsure };
std::string_view ToText(WindowChange change);

struct ComparedRow {
  std::string name;
  WindowChange change = WindowChange::kUnsure;
  double before_s = 0, after_s = 0;          // a step, mean over the steps
  double before_calls = 0, after_calls = 0;  // a step, mean
  // Three standard errors of the difference between the means, by how much the steps of each window
  // differ among themselves; nothing where a window has one step only.
  std::optional<double> noise_s = {};
};
struct ComparedWindows {
  ComparedRow step;                             // the length of a step, as in the breakdown
  std::vector<ComparedRow> kernels, operators;  // the largest difference first
};

// A row is slower or faster where its difference is beyond 1 % of what it was, and beyond the noise
// or such that every step of one window took longer than every one of the other (four steps each).
// It is unsure where noise of more than 5 % hides a larger difference than 1 %, and where one step
// only is known.
ComparedWindows CompareWindows(const StepTable& before, const StepTable& after);
// `most` rows of each list; the numbers of all of them stand beside.
OrderedJson ToJson(const ComparedWindows& compared, std::size_t most);

}  // namespace stepscope
