#include "server/api/step_summary.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "server/api/answer.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostPoints = 500;

double Seconds(double ns) {
  return Rounded(ns / 1e9, 9);
}

// The least value that this share of all is not above; `sorted` is not empty.
std::int64_t Percentile(const std::vector<std::int64_t>& sorted, double share) {
  const auto rank = static_cast<std::size_t>(std::ceil(share * double(sorted.size())));
  return sorted[std::clamp<std::size_t>(rank, 1, sorted.size()) - 1];
}

OrderedJson WallSeconds(const std::vector<std::int64_t>& sorted, double sum_ns) {
  if (sorted.empty()) return nullptr;
  return {{"mean", Seconds(sum_ns / double(sorted.size()))},
          {"max", Seconds(double(sorted.back()))},
          {"p99", Seconds(double(Percentile(sorted, 0.99)))},
          {"p95", Seconds(double(Percentile(sorted, 0.95)))},
          {"p50", Seconds(double(Percentile(sorted, 0.50)))},
          {"min", Seconds(double(sorted.front()))}};
}

// Equal bins up to the 99th percentile, and one for the outliers behind it.
std::vector<double> Edges(const std::vector<std::int64_t>& sorted, std::size_t bins) {
  const double low = double(sorted.front()), high = double(sorted.back());
  if (low == high) return {low, high};
  const double p99 = double(Percentile(sorted, 0.99));
  const bool tail = bins > 1 && p99 < high && p99 > low;
  const std::size_t equal = tail ? bins - 1 : bins;
  const double top = tail ? p99 : high;
  std::vector<double> edges;
  for (std::size_t bin = 0; bin <= equal; ++bin) {
    edges.push_back(low + (top - low) * double(bin) / double(equal));
  }
  if (tail) edges.push_back(high);
  return edges;
}

OrderedJson Histogram(const std::vector<std::int64_t>& sorted, std::size_t bins) {
  OrderedJson seconds = OrderedJson::array(), counts = OrderedJson::array();
  if (sorted.empty()) return {{"edges_seconds", seconds}, {"counts", counts}};
  const std::vector<double> edges = Edges(sorted, bins);
  auto from = sorted.begin();
  for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin) {
    const bool last = bin + 2 == edges.size();
    const auto to =
        last ? sorted.end()
             : std::lower_bound(from, sorted.end(), edges[bin + 1],
                                [](std::int64_t ns, double edge) { return double(ns) < edge; });
    counts.push_back(to - from);
    from = to;
  }
  for (const double edge : edges) seconds.push_back(Seconds(edge));
  return {{"edges_seconds", seconds}, {"counts", counts}};
}

OrderedJson PhaseJson(std::string_view name, std::int64_t ns, double all_ns) {
  return {{"phase", name},
          {"total_seconds", Seconds(double(ns))},
          {"share_percent", all_ns > 0 ? Rounded(100 * double(ns) / all_ns, 2) : 0}};
}

}  // namespace

void StepSummary::Add(const Step& step) {
  if (walls_ns_.empty()) first_ = step.number;
  last_ = step.number;
  walls_ns_.push_back(step.wall.count());
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    phases_ns_[phase] += step.phases[phase].count();
  }
  AddToCurve(step);
}

void StepSummary::AddToCurve(const Step& step) {
  if (curve_.empty() || curve_.back().count == steps_per_point_) {
    if (curve_.size() == kMostPoints) HalveCurve();
    curve_.push_back({.step = step.number, .start_us = ToMicros(step.start)});
  }
  Point& point = curve_.back();
  ++point.count;
  point.wall_ns += step.wall.count();
  point.data_ns += step.phase(Phase::kData).count();
}

void StepSummary::HalveCurve() {
  for (std::size_t at = 0; at < kMostPoints / 2; ++at) {
    Point joined = curve_[2 * at];
    const Point& next = curve_[2 * at + 1];
    joined.count += next.count;
    joined.wall_ns += next.wall_ns;
    joined.data_ns += next.data_ns;
    curve_[at] = joined;
  }
  curve_.resize(kMostPoints / 2);
  steps_per_point_ *= 2;
}

OrderedJson StepSummary::Phases(double all_ns) const {
  OrderedJson list = OrderedJson::array();
  auto unnamed_ns = static_cast<std::int64_t>(all_ns);
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    const std::int64_t ns = phases_ns_[phase];
    unnamed_ns -= ns;
    if (ns > 0) list.push_back(PhaseJson(ToText(static_cast<Phase>(phase)), ns, all_ns));
  }
  if (unnamed_ns > 0) list.push_back(PhaseJson("unnamed", unnamed_ns, all_ns));
  return list;
}

OrderedJson StepSummary::Curve() const {
  OrderedJson step = OrderedJson::array(), start = step, wall = step, data = step;
  for (const Point& point : curve_) {
    step.push_back(point.step);
    start.push_back(point.start_us);
    wall.push_back(Seconds(double(point.wall_ns) / double(point.count)));
    data.push_back(Seconds(double(point.data_ns) / double(point.count)));
  }
  return {{"steps_per_point", steps_per_point_},
          {"step", step},
          {"start_us", start},
          {"wall_seconds", wall},
          {"data_seconds", data}};
}

void StepSummary::Put(OrderedJson& json, std::size_t bins) const {
  std::vector<std::int64_t> sorted = walls_ns_;
  std::ranges::sort(sorted);
  const double all_ns = std::accumulate(sorted.begin(), sorted.end(), 0.0);
  const bool any = !sorted.empty();
  json["steps"] = sorted.size();
  json["first_step"] = any ? OrderedJson(first_) : OrderedJson(nullptr);
  json["last_step"] = any ? OrderedJson(last_) : OrderedJson(nullptr);
  json["wall_seconds"] = WallSeconds(sorted, all_ns);
  json["histogram"] = Histogram(sorted, bins);
  json["phases"] = Phases(all_ns);
  json["series"] = Curve();
}

}  // namespace stepscope
