#include "server/api/charts/series_call.h"

#include <algorithm>

#include "core/base/nearest.h"
#include "core/base/text.h"
#include "core/model/metric.h"
#include "server/api/http/find_job.h"

namespace stepscope {
namespace {

// Names that are like this one, up to the end of the sentence.
std::string Hint(const std::string& metric) {
  std::vector<std::string_view> known;
  for (const Metric& each : Metrics()) known.push_back(each.name);
  const std::string hint = DidYouMean(NearestWords(known, metric));
  return hint.empty() ? ";" : hint;
}

}  // namespace

std::optional<SeriesFault> FindSeriesFault(const Query& query,
                                           const std::vector<NodeBrief>& nodes) {
  for (const std::string& metric : query.Texts("metric")) {
    if (FindMetric(metric) || IsCustomMetric(metric)) continue;
    return {{"metric", Format("there is no metric '{}'{} /api/v1/metrics-catalog lists them",
                              Printable(metric, 64), Hint(metric))}};
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

  SeriesRange range = WholeRange(std::move(*head));
  range.filter.metrics = query.Texts("metric");
  range.from_us = query.Int("from_us", range.from_us);
  range.to_us = std::max(query.Int("to_us", range.to_us), range.from_us);
  range.interval_us = IntervalUs(range.job, range.from_us, range.to_us);
  if (query.Has("device")) range.filter.device = query.Text("device");
  if (query.Has("node")) {
    std::erase_if(range.nodes,
                  [&](const NodeBrief& row) { return row.name != query.Text("node"); });
  }
  return call(range, query);
}

}  // namespace stepscope
