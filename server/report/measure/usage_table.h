#pragma once

#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/report/measure/device_use.h"
#include "server/store/ticks/node_samples.h"
#include "server/store/ticks/series_range.h"

namespace stepscope {

// How busy a node was in one respect, all its devices together: each GPU's samples count by
// themselves, the rates of network interfaces add up.
struct UsageRow {
  std::string node, metric;
  std::size_t count = 0;  // of samples, or of means
  double max = 0, p99 = 0, p95 = 0, p90 = 0, p50 = 0, min = 0;
};
OrderedJson ToJson(const UsageRow& row);

struct UsageTable {
  std::string of = "samples";  // or "means of 10 s"
  std::vector<UsageRow> rows;  // in the order of the nodes, then of the metrics
};

// The metrics of the rule OverallSystemUsage, of the nodes and the time of the range. From samples
// while all are there and within the budget, else from rollups. Invalid when these are too many as
// well. `uses`, when it is not null, has all the values that the table was made of.
Result<UsageTable> ReadUsage(Connection& connection, SeriesRange range, ReadBudget budget = {},
                             DeviceUses* uses = nullptr);

// The values of these metrics, of the nodes and the time of the range: from samples or from
// rollups, as above, but of rollups whose bins are so wide that even hundreds of devices are few
// values.
Status ReadUses(Connection& connection, SeriesRange range, std::vector<std::string> metrics,
                DeviceUses& uses);

}  // namespace stepscope
