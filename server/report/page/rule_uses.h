#pragma once

#include "server/report/page/rule_section.h"
#include "server/store/ticks/series_range.h"

namespace stepscope {

// Metrics that the picture of GPUThrottled or of a custom rule is drawn from: of few nodes, those
// with the longest findings first. Nothing where they are too many to be read at once.
Status ReadRuleUses(Connection& connection, SeriesRange range, RuleSection& rule);

}  // namespace stepscope
