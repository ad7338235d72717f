#include "server/report/measure/step_summary.h"

#include <algorithm>
#include <string>
#include <vector>

#include "core/base/json_members.h"
#include "server/store/jobs/capped_sum.h"

namespace stepscope {
namespace {

double SecondsOfNs(double ns) {
  return Rounded(ns / 1e9, 9);
}

OrderedJson WallSeconds(const StepFigures& of) {
  if (of.count == 0) return nullptr;
  return {{"mean", of.mean}, {"max", of.max}, {"p99", of.p99},
          {"p95", of.p95},   {"p50", of.p50}, {"min", of.min}};
}

// Equal bins up to the 99th percentile, and one for the outliers above it.
std::vector<double> Edges(const StepWalls& walls, std::size_t bins) {
  const double low = double(walls.min_ns()), high = double(walls.max_ns());
  if (low == high) return {low, high};
  const double p99 = walls.Percentile(0.99);
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

void PutHistogram(const StepWalls& walls, std::size_t bins, StepFigures& figures) {
  if (walls.count() == 0) return;
  const std::vector<double> edges = Edges(walls, bins);
  std::int64_t from = 0;
  for (std::size_t bin = 0; bin + 1 < edges.size(); ++bin) {
    const bool last = bin + 2 == edges.size();
    const std::int64_t to = last ? walls.count() : walls.CountBelow(edges[bin + 1]);
    figures.counts.push_back(to - from);
    from = to;
  }
  for (const double edge : edges) figures.edges.push_back(SecondsOfNs(edge));
}

OrderedJson ToJson(const StepFigures::PhaseSum& sum) {
  return {{"phase", sum.phase},
          {"total_seconds", sum.seconds},
          {"share_percent", Rounded(sum.share_percent, 2)}};
}

// The mean of a phase in each point of a curve.
OrderedJson PhaseOf(const StepCurve& curve, std::size_t phase) {
  OrderedJson seconds = OrderedJson::array();
  for (const StepPoint& point : curve.points()) {
    seconds.push_back(SecondsOfNs(double(point.sums[phase]) / double(point.count)));
  }
  return seconds;
}

// The curves of the phases that any point has.
OrderedJson PhasesOf(const StepCurve& curve) {
  OrderedJson phases = OrderedJson::object();
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const auto has = [i](const StepPoint& point) { return point.sums[i] > 0; };
    if (!std::ranges::any_of(curve.points(), has)) continue;
    phases[std::string(ToText(static_cast<Phase>(i)))] = PhaseOf(curve, i);
  }
  return phases;
}

// A sum of each point, as seconds a step of those for which the GPU's clock is known; null where it
// is known for none.
OrderedJson GpuCurve(const StepCurve& curve, std::size_t sum) {
  OrderedJson seconds = OrderedJson::array();
  for (const StepPoint& point : curve.points()) {
    const std::int64_t steps = point.sums[kPointGpuSteps];
    seconds.push_back(steps == 0
                          ? OrderedJson(nullptr)
                          : OrderedJson(SecondsOfNs(double(point.sums[sum]) / double(steps))));
  }
  return seconds;
}

OrderedJson GpuJson(const StepFigures& figures) {
  if (figures.gpu_steps == 0) return nullptr;
  OrderedJson phases = OrderedJson::array();
  for (const StepFigures::PhaseSum& sum : figures.gpu_phases) phases.push_back(ToJson(sum));
  return {{"steps", figures.gpu_steps},
          {"idle_seconds", figures.gpu_idle_seconds},
          {"phases", std::move(phases)},
          {"series",
           {{"work_seconds", GpuCurve(figures.curve, kPointGpuWork)},
            {"idle_seconds", GpuCurve(figures.curve, kPointGpuIdle)}}}};
}

OrderedJson CurveJson(const StepCurve& curve) {
  OrderedJson step = OrderedJson::array(), start = step, wall = step;
  for (const StepPoint& point : curve.points()) {
    step.push_back(point.step);
    start.push_back(point.start_us);
    wall.push_back(SecondsOfNs(double(point.wall_ns) / double(point.count)));
  }
  return {{"steps_per_point", curve.steps_per_point()},
          {"step", step},
          {"start_us", start},
          {"wall_seconds", wall},
          {"data_seconds", PhaseOf(curve, static_cast<std::size_t>(Phase::kData))},
          {"phases_seconds", PhasesOf(curve)}};
}

}  // namespace

void StepSummary::Add(const Step& step) {
  const StepPoint point = ToPoint(step);
  if (walls_.count() == 0) first_ = step.number;
  last_ = step.number;
  walls_.Add(point.wall_ns);
  times_.Add(step);
  curve_.Add(point);
}

void StepSummary::Add(const BlockSummary& block) {
  if (walls_.count() == 0) first_ = block.points.front().step;
  last_ = block.last_step;
  walls_.Add(block);
  times_.Add(block.times_ns);
  for (const StepPoint& point : block.points) curve_.Add(point);
}

std::vector<StepFigures::PhaseSum> StepSummary::Phases() const {
  std::vector<StepFigures::PhaseSum> list;
  const double all_ns = walls_.sum_ns();
  double unnamed_ns = all_ns;
  const auto put = [&](std::string_view name, double ns) {
    if (ns <= 0) return;
    list.push_back({name, SecondsOfNs(ns), all_ns > 0 ? 100 * ns / all_ns : 0});
  };
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    const double ns = double(times_.ns[phase]);
    unnamed_ns -= ns;
    put(ToText(static_cast<Phase>(phase)), ns);
  }
  put("unnamed", unnamed_ns);
  return list;
}

std::vector<StepFigures::PhaseSum> StepSummary::GpuPhases() const {
  double all_ns = 0;
  for (std::size_t i = 0; i < kPhaseCount; ++i) all_ns += double(times_.ns[kFirstGpuTime + i]);
  std::vector<StepFigures::PhaseSum> list;
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const double ns = double(times_.ns[kFirstGpuTime + i]);
    if (ns > 0) list.push_back({ToText(static_cast<Phase>(i)), SecondsOfNs(ns), 100 * ns / all_ns});
  }
  return list;
}

StepFigures StepSummary::Finish(std::size_t bins) {
  walls_.Finish();
  StepFigures figures;
  figures.count = walls_.count();
  figures.first = first_;
  figures.last = last_;
  figures.phases = Phases();
  figures.evaluation_seconds = SecondsOfNs(double(times_.ns[kEvaluationTime]));
  figures.gpu_steps = times_.gpu_steps;
  figures.gpu_idle_seconds = SecondsOfNs(double(times_.ns[kGpuIdleTime]));
  figures.gpu_phases = GpuPhases();
  figures.curve = std::move(curve_);
  figures.error_percent = walls_.exact() ? 0 : kDurationErrorPercent;
  if (walls_.count() == 0) return figures;
  figures.mean = SecondsOfNs(walls_.sum_ns() / double(walls_.count()));
  figures.max = SecondsOfNs(double(walls_.max_ns()));
  figures.p99 = SecondsOfNs(walls_.Percentile(0.99));
  figures.p95 = SecondsOfNs(walls_.Percentile(0.95));
  figures.p50 = SecondsOfNs(walls_.Percentile(0.50));
  figures.min = SecondsOfNs(double(walls_.min_ns()));
  PutHistogram(walls_, bins, figures);
  return figures;
}

void Put(const StepFigures& figures, OrderedJson& json) {
  const bool any = figures.count > 0;
  json["steps"] = figures.count;
  json["first_step"] = any ? OrderedJson(figures.first) : OrderedJson(nullptr);
  json["last_step"] = any ? OrderedJson(figures.last) : OrderedJson(nullptr);
  json["wall_seconds"] = WallSeconds(figures);
  json["wall_error_percent"] = figures.error_percent;
  json["histogram"] = {{"edges_seconds", figures.edges}, {"counts", figures.counts}};
  json["phases"] = OrderedJson::array();
  for (const StepFigures::PhaseSum& sum : figures.phases) json["phases"].push_back(ToJson(sum));
  json["evaluation_seconds"] = figures.evaluation_seconds;
  json["gpu"] = GpuJson(figures);
  json["series"] = CurveJson(figures.curve);
}

}  // namespace stepscope
