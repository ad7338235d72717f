#pragma once

#include "server/report/page/rule_section.h"
#include "server/store/ticks/series_range.h"

namespace stepscope {

// Values of the metrics in the picture of GPUThrottled or of a custom rule, for a few nodes: nodes
// with the longest findings first. Nothing where there are too many values to read at once.
Status ReadRuleUses(Connection& connection, SeriesRange range, RuleSection& rule);

}  // namespace stepscope
