#include "server/api/series_range.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/model/metric.h"
#include "server/api/answer.h"
#include "server/api/find_job.h"
#include "server/store/intervals.h"

namespace stepscope {
namespace {

void ChooseTimes(const std::vector<TickRange>& ranges, const Query& query, SeriesRange& range) {
  range.from_us = range.to_us = range.job.started_us.value_or(range.job.created_us);
  if (!ranges.empty()) {
    range.from_us = std::ranges::min_element(ranges, {}, &TickRange::from_us)->from_us;
    range.to_us = std::ranges::max_element(ranges, {}, &TickRange::to_us)->to_us;
  }
  range.from_us = query.Int("from_us", range.from_us);
  range.to_us = std::max(query.Int("to_us", range.to_us), range.from_us);
}

}  // namespace

std::int64_t IntervalUs(const JobRow& job, std::int64_t from_us, std::int64_t to_us) {
  return LongestIntervalMs(job.configuration, from_us, to_us) * 1'000;
}

bool SamplesRemoved(const JobRow& job, std::int64_t from_us) {
  return from_us < job.samples_from_us;
}

std::optional<SeriesFault> FindSeriesFault(const Query& query,
                                           const std::vector<NodeBrief>& nodes) {
  for (const std::string& metric : query.Texts("metric")) {
    if (FindMetric(metric) || IsCustomMetric(metric)) continue;
    return {{"metric", Format("there is no metric '{}'", Printable(metric, 64))}};
  }
  const std::string node = query.Text("node");
  if (!node.empty() && std::ranges::count(nodes, node, &NodeBrief::name) == 0) {
    return {{"node", Format("the job has no node '{}'", Printable(node, 64))}};
  }
  return std::nullopt;
}

Result<Reply> ForSeries(Connection& connection, const Request& request, const PathParameters& path,
                        std::span<const QueryParameter> table, const SeriesCall& call) {
  const Query query(request, table);
  if (!query.faults().empty()) return query.Refusal(request);
  if (query.Has("from_us") && query.Has("to_us") &&
      query.Int("from_us", 0) > query.Int("to_us", 0)) {
    return Query::Refuse(request, "from_us", "is after to_us");
  }

  Result<JobHead> head = FindNamedHead(
      connection, path, {.first = !query.Has("from_us"), .last = !query.Has("to_us")});
  if (!head) return head.error();
  if (const auto fault = FindSeriesFault(query, head->nodes)) {
    return Query::Refuse(request, fault->parameter, fault->detail);
  }

  SeriesRange range{std::move(head->job), std::move(head->nodes), {query.Texts("metric"), {}}};
  ChooseTimes(head->ranges, query, range);
  range.interval_us = IntervalUs(range.job, range.from_us, range.to_us);
  if (query.Has("device")) range.filter.device = query.Text("device");
  if (query.Has("node")) {
    std::erase_if(range.nodes,
                  [&](const NodeBrief& row) { return row.name != query.Text("node"); });
  }
  return call(range, query);
}

}  // namespace stepscope
