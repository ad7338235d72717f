#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/report/measure/device_use.h"
#include "server/store/ticks/node_samples.h"
#include "server/store/ticks/series_range.h"

namespace stepscope {

// The use of a node in one metric, all its devices together: each GPU's samples count by
// themselves, the rates of network interfaces add up.
struct UsageRow {
  std::string node, metric;
  std::size_t count = 0;  // number of samples, or of means
  double max = 0, p99 = 0, p95 = 0, p90 = 0, p50 = 0, min = 0;
};
OrderedJson ToJson(const UsageRow& row);

struct UsageTable {
  std::string of = "samples";  // or "means of 10 s"
  std::vector<UsageRow> rows;  // in the order of the nodes, then of the metrics
};

// The table of the metrics of the rule OverallSystemUsage, for the nodes and the time of the range.
// Made from samples while all are stored and within the budget, else from rollups. Invalid when the
// rollups are too many as well. `uses`, when it is not null, gets all the values that the table was
// made of.
Result<UsageTable> ReadUsage(Connection& connection, SeriesRange range, ReadBudget budget = {},
                             DeviceUses* uses = nullptr);

// The values of these metrics, for the nodes and the time of the range: from samples or from
// rollups, as above, but from rollups with bins so wide that even hundreds of devices are few
// values.
Status ReadUses(Connection& connection, SeriesRange range, std::vector<std::string> metrics,
                DeviceUses& uses);

}  // namespace stepscope
