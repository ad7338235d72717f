#pragma once

#include <string>
#include <string_view>

namespace stepscope {

// Where the agent has a metric from, in words; "" when the table of sources has no row for it.
std::string_view SourceOf(std::string_view metric);

// The page docs/metrics.md: every metric of the table with its unit, its source and its meaning.
std::string MetricsPage();

}  // namespace stepscope
