// Rules whose picture is about the steps of one rank.

#include <algorithm>

#include "core/base/text.h"
#include "server/report/page/rule_pictures.h"
#include "server/report/picture/pictures.h"
#include "server/report/text/format.h"

namespace stepscope {
namespace {

// The rank whose median step is the longest stands for all.
const RankSummary* Slowest(const Report& report) {
  const auto slowest = std::ranges::max_element(
      report.steps, {}, [](const RankSummary& rank) { return rank.steps.p50; });
  const bool any = slowest != report.steps.end() && slowest->steps.count > 0;
  return any ? &*slowest : nullptr;
}

std::string OfRank(std::string_view what, const Report& report, const RankSummary& rank) {
  const bool only = report.ranks == 1;
  return only ? Format("{}", what)
              : Format("{}, rank {}, which has the longest median step", what, rank.of.rank);
}

Curve LengthsOf(const Report& report, const RankSummary& rank) {
  Curve curve;
  std::int64_t most = 1;
  for (const StepPoint& point : rank.steps.curve.points()) most = std::max(most, point.count);
  const std::string means = most == 1 ? "" : Format(", means of {} steps", most);
  curve.title = OfRank("Length of the steps" + means, report, rank);
  curve.unit = "s";
  for (const StepPoint& point : rank.steps.curve.points()) {
    const double seconds = static_cast<double>(point.wall_ns) / double(point.count) / 1e9;
    curve.points.push_back({point.start_us, seconds, seconds, seconds});
  }
  curve.from_us = report.times.loop_from_us.value_or(report.data_from_us);
  curve.to_us = report.times.loop_to_us.value_or(report.data_to_us);
  curve.gap_us = INT64_MAX;  // a long step is no gap: its length says so
  return curve;
}

Bars LoadsOf(const RankSummary& rank, std::string title) {
  constexpr std::size_t kBins = 30;
  std::vector<double> waits;
  for (const StepPoint& point : rank.steps.curve.points()) {
    const auto ns = point.sums[static_cast<std::size_t>(Phase::kData)];
    waits.push_back(static_cast<double>(ns) / double(point.count) / 1e9);
  }
  std::ranges::sort(waits);
  Bars bars{.title = std::move(title), .edges = {}, .counts = {}, .mark = {}, .mark_words = {}};
  const double low = waits.front(), high = waits.back();
  if (high <= low) {
    bars.edges = {low, high + 1e-9};
    bars.counts = {static_cast<std::int64_t>(waits.size())};
    return bars;
  }
  bars.counts.resize(kBins);
  for (std::size_t i = 0; i <= kBins; ++i) {
    bars.edges.push_back(low + (high - low) * static_cast<double>(i) / double(kBins));
  }
  for (const double wait : waits) {
    const auto bin = static_cast<std::size_t>((wait - low) / (high - low) * double(kBins));
    ++bars.counts[std::min(bin, kBins - 1)];
  }
  bars.mark = waits[waits.size() / 2];
  bars.mark_words = "the median, " + FormatDuration(*bars.mark);
  return bars;
}

}  // namespace

Markup StepHistogram(const Report& report, const RuleSection&) {
  const RankSummary* rank = Slowest(report);
  if (rank == nullptr) return {};
  return Histogram({OfRank("Steps by their length", report, *rank), rank->steps.edges,
                    rank->steps.counts, rank->steps.p50,
                    "the median, " + FormatDuration(rank->steps.p50)});
}

Markup StepLine(const Report& report, const RuleSection&) {
  const RankSummary* rank = Slowest(report);
  return rank == nullptr ? Markup() : Line(LengthsOf(report, *rank));
}

// The time after the last step belongs into the picture, too.
Markup StallLine(const Report& report, const RuleSection& rule) {
  const RankSummary* rank = Slowest(report);
  if (rank == nullptr) return {};
  Curve curve = LengthsOf(report, *rank);
  curve.to_us = std::max(curve.to_us, report.data_to_us);
  curve.shaded = Fired(rule, "");
  if (curve.shaded.empty()) return Line(curve);
  curve.note = FiredWords(rule, "no step ended");
  // No line is drawn across a stall; steps of one point are no stall.
  const double points = static_cast<double>(std::max<std::size_t>(curve.points.size(), 1));
  const double each_s = rank->steps.mean * static_cast<double>(rank->steps.count) / points;
  const double limit_s = rule.answer["evidence"].value("limit_seconds", 0.0);
  curve.gap_us = static_cast<std::int64_t>(std::min((2 * each_s + limit_s) * 1e6, 9e18));
  return Line(curve);
}

Markup LoadHistogram(const Report& report, const RuleSection&) {
  const RankSummary* rank = Slowest(report);
  if (rank == nullptr || rank->steps.curve.points().empty()) return {};
  const std::int64_t each = rank->steps.curve.steps_per_point();
  const std::string what = each == 1
                               ? "Waits for the next batch"
                               : Format("Waits for the next batch, means of up to {} steps", each);
  return Histogram(LoadsOf(*rank, OfRank(what, report, *rank)));
}

}  // namespace stepscope
