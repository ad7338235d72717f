#include "server/ingest/check/sample_density.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/ingest/check/block_capacity.h"

namespace stepscope {
namespace {

SampleFault FaultAt(std::string pointer, std::string detail) {
  return {"invalid-body", std::move(pointer), std::move(detail)};
}

}  // namespace

std::optional<SampleFault> CheckDensity(const Samples& samples) {
  std::vector<std::int64_t> sorted = samples.times_us;
  if (!std::ranges::is_sorted(sorted)) std::ranges::sort(sorted);
  if (AreFarApart(sorted, samples.series.size() + 1)) return std::nullopt;
  BlockCapacity density(samples.times_us);
  for (const auto& series : samples.series) density.Add(series.name.metric, series.present);
  const std::optional<BlockCapacity::Fault> fault = density.Find();
  if (!fault) return std::nullopt;
  if (fault->metric.empty()) return FaultAt("/times_us", fault->detail);
  const auto first = std::ranges::find(samples.series, fault->metric,
                                       [](const auto& series) { return series.name.metric; });
  return FaultAt(Format("/series/{}", first - samples.series.begin()),
                 fault->metric + ": " + fault->detail);
}

}  // namespace stepscope
