#include "server/api/charts/chart_grid.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/api/charts/series_call.h"
#include "server/store/rollups/rollups.h"

namespace stepscope {
namespace {

constexpr std::int64_t kSilentUs = 60'000'000;  // a node silent for longer delays no cursor

}  // namespace

std::string EncodeCursor(const ChartCursor& cursor) {
  return ToBase64Url(Format("{}:{}", cursor.bin_us, cursor.begin_us));
}

std::optional<ChartCursor> DecodeCursor(const std::string& text) {
  const Result<std::string> plain = FromBase64Url(text);
  if (!plain) return std::nullopt;
  const std::vector<std::string_view> parts = Split(*plain, ':');
  if (parts.size() != 2) return std::nullopt;
  const Result<std::int64_t> bin = ParseInt(parts[0], "bin"), begin = ParseInt(parts[1], "begin");
  const bool good = bin && begin && *bin > 0 && *bin <= kLatestUs && *begin >= 0 &&
                    *begin <= kLatestUs &&
                    *bin == ChartBin(*bin);  // else such wide bins would be made of every sample
  return good ? std::optional(ChartCursor{*bin, *begin}) : std::nullopt;
}

std::int64_t SlowestLive(const std::vector<TickRange>& ranges) {
  std::int64_t newest_us = 0, slowest_us = INT64_MAX;
  for (const TickRange& range : ranges) newest_us = std::max(newest_us, range.to_us);
  for (const TickRange& range : ranges) {
    if (range.to_us + kSilentUs >= newest_us) slowest_us = std::min(slowest_us, range.to_us);
  }
  return ranges.empty() ? 0 : slowest_us;
}

ChartGrid ChooseGrid(const JobRow& job, const std::vector<TickRange>& ranges, const Query& query,
                     const std::optional<ChartCursor>& since) {
  ChartGrid grid{.from_us = INT64_MAX};
  for (const TickRange& range : ranges) {
    grid.from_us = std::min(grid.from_us, range.from_us);
    grid.to_us = std::max(grid.to_us, range.to_us);
  }
  if (ranges.empty()) grid.from_us = grid.to_us = job.started_us.value_or(job.created_us);
  grid.to_us = query.Int("to_us", grid.to_us);
  grid.from_us = since ? std::max(since->begin_us, query.Int("from_us", 0))
                       : query.Int("from_us", grid.from_us);
  grid.interval_us = IntervalUs(job, grid.from_us, std::max(grid.from_us, grid.to_us));
  if (since) {
    grid.bin_us = since->bin_us;
    return grid;
  }
  const std::int64_t width = std::max<std::int64_t>(grid.to_us - grid.from_us, 0);
  const std::int64_t intervals = width / (query.Int("points", 300) * grid.interval_us) + 1;
  grid.bin_us = intervals * grid.interval_us;
  if (SamplesRemoved(job, grid.from_us)) {
    grid.bin_us = std::max(grid.bin_us, kRollupLevels[0].bin_us);
  }
  grid.bin_us = ChartBin(grid.bin_us);
  grid.from_us -= grid.from_us % grid.bin_us;
  return grid;
}

ChartQuery ToChartQuery(const Query& query, const ChartGrid& grid, const JobRow& job,
                        const std::vector<NodeBrief>& nodes) {
  ChartQuery chart{.job_id = job.job_id,
                   .nodes = nodes,
                   .from_us = grid.from_us,
                   .to_us = grid.to_us,
                   .bin_us = grid.bin_us,
                   .filter = {query.Texts("metric"), {}},
                   .most_series = query.Has("fold") ? kMostFolded : kMostSeries,
                   .whole_job = !query.Has("node") && !query.Has("device"),
                   .means = query.Text("values") == "mean" && !query.Has("fold")};
  if (query.Has("device")) chart.filter.device = query.Text("device");
  if (query.Has("node")) {
    std::erase_if(chart.nodes,
                  [&](const NodeBrief& node) { return node.name != query.Text("node"); });
  }
  return chart;
}

}  // namespace stepscope
