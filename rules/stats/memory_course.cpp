#include "rules/stats/memory_course.h"

namespace stepscope {

void MemoryCourse::Fit() {
  if (fitted == trend.complete()) return;
  fitted = trend.complete();
  const auto line = trend.Fit();
  if (!line) return;
  slope = line->slope, start = line->start, end = line->end, rising = line->rising;
  length_min = trend.FittedLength() / 1min;
  before = trend.HighBeforeFit();
  const auto rise = envelope.Rises();
  saw = rising < kSteady && rise && rise->last_peak > rise->before;
  if (!saw) return;
  slope = rise->per_hour, start = rise->first_peak, end = rise->last_peak;
  low_start = rise->first_low, low_end = rise->last_low;
  length_min = rise->length / 1min;
}

}  // namespace stepscope
