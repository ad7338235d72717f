#pragma once

#include "server/api/charts/chart_data.h"

namespace stepscope {

// Fills a chart with one series for each metric, over all series that the query names. From rollups
// where the bins are wide enough, and from folded ones where the query is about all nodes and
// devices; else from every sample. Fails as FillChart does.
Status FillFolded(Connection& connection, const ChartQuery& query, Chart& chart);

}  // namespace stepscope
