#pragma once

#include "server/api/charts/chart_data.h"

namespace stepscope {

// One series for each metric, over all series that the query names. From rollups where the bins are
// wide enough for them, and these folded already where the query is about all nodes and devices;
// else from every sample. Fails as FillChart does.
Status FillFolded(Connection& connection, const ChartQuery& query, Chart& chart);

}  // namespace stepscope
