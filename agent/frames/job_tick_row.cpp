#include "agent/frames/job_tick_row.h"

namespace stepscope {

bool JobTickRow::IsOurs(const SeriesName& series) const {
  if (series.metric.starts_with("cgroup_")) return cgroup_ == TickCgroup::kOfJob;
  return !series.metric.starts_with("gpu_") || gpus_.contains(series.device);
}

TickRow& JobTickRow::Of(const TickRow& node) {
  columns_.resize(node.size(), TickRow::kNoColumn);
  row_.Clear();
  for (std::size_t i = 0; i < node.size(); ++i) {
    const SeriesName& series = node.series()[i];
    if (!node.Has(i) || !IsOurs(series)) continue;
    if (columns_[i] == TickRow::kNoColumn) columns_[i] = row_.Add(series.metric, series.device);
    row_.Copy(columns_[i], node, i);
  }
  return row_;
}

}  // namespace stepscope
