#pragma once

#include <functional>
#include <optional>
#include <span>

#include "server/api/http/query.h"
#include "server/front/route.h"
#include "server/store/ticks/series_range.h"

namespace stepscope {

// Common parts of the calls that read series.

inline constexpr std::int64_t kLatestUs = (std::int64_t{1} << 53) - 1;

// A `metric` or `node` of the query that does not exist: the parameter, and the reason.
struct SeriesFault {
  std::string parameter, detail;
};
std::optional<SeriesFault> FindSeriesFault(const Query& query, const std::vector<NodeBrief>& nodes);

// The work of a call on the series and the range of time that its query asks for: everything when
// left out.
using SeriesCall = std::function<Result<Reply>(const SeriesRange&, const Query&)>;

// Reads and checks job and query (metric, node, device, from_us and to_us, where its table has
// them), refuses faults, else calls `call`.
Result<Reply> ForSeries(Connection& connection, const Request& request, const PathParameters& path,
                        std::span<const QueryParameter> table, const SeriesCall& call);

}  // namespace stepscope
