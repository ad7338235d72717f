#pragma once

#include <functional>
#include <optional>
#include <span>

#include "server/api/http/query.h"
#include "server/front/route.h"
#include "server/store/ticks/series_range.h"

namespace stepscope {

// What the calls that read series have in common.

inline constexpr std::int64_t kLatestUs = (std::int64_t{1} << 53) - 1;

// A `metric` or `node` of the query that there is not: the parameter, and what is wrong with it.
struct SeriesFault {
  std::string parameter, detail;
};
std::optional<SeriesFault> FindSeriesFault(const Query& query, const std::vector<NodeBrief>& nodes);

// What a call does with the series that its query asks for, and the stretch of time: all there is
// when left out.
using SeriesCall = std::function<Result<Reply>(const SeriesRange&, const Query&)>;

// Reads and checks job and query (metric, node, device, from_us and to_us, where its table has
// them), refuses what is wrong, else calls.
Result<Reply> ForSeries(Connection& connection, const Request& request, const PathParameters& path,
                        std::span<const QueryParameter> table, const SeriesCall& call);

}  // namespace stepscope
