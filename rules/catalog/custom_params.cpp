#include "rules/catalog/custom_params.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/base/text.h"
#include "core/model/metric.h"
#include "rules/signals/initialisation.h"
#include "rules/stats/window_values.h"

namespace stepscope {
namespace {

Status GoodMetric(const std::string& name) {
  if (FindMetric(name) != nullptr || IsCustomMetric(name)) return {};
  return Invalid(
      "a metric that agents send, such as gpu_util_percent, or one of your own, such as user.loss");
}

// A percentage of one core: several cores make more than 100 %.
constexpr std::string_view kOfCores[] = {"cgroup_cpu_percent", "process_cpu_percent",
                                         "process_loaders_cpu_percent"};

// The least and the greatest possible value of the metric; infinite where it is not known.
std::pair<double, double> RangeOf(const std::string& name) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  const Metric* metric = FindMetric(name);
  if (metric == nullptr || metric->unit != "%") return {-kInfinite, kInfinite};
  return {0, std::ranges::find(kOfCores, name) == std::end(kOfCores) ? 100 : kInfinite};
}

constexpr std::string_view kComparisons[] = {"above", "below"};
constexpr std::string_view kSubjects[] = {"device", "node"};
constexpr Param kParams[] = {
    {.name = "metric",
     .unit = "",
     .help = "The metric: one that agents send, or one of your own under \"user.\".",
     .good_text = GoodMetric},
    {.name = "aggregation",
     .unit = "",
     .help = "What a window comes to: mean, min, max, p5, p50 or p95.",
     .choices = kAggregations},
    {.name = "window",
     .fallback = 120,
     .least = 1,
     .most = 1'000'000,
     .unit = "samples",
     .help = "The length of a window; one follows the other."},
    {.name = "comparison",
     .unit = "",
     .help = "Whether a window counts that is above the threshold, or below.",
     .choices = kComparisons},
    {.name = "threshold",
     .least = -1e18,
     .most = 1e18,
     .unit = "",
     .help = "In the unit of the metric; from 0 to 100 where that is %.",
     .required = "a number in the unit of the metric"},
    {.name = "share",
     .fallback = 0,
     .least = 0,
     .most = 100,
     .unit = "%",
     .help = "It fires when more of the judged windows of a device count than this."},
    {.name = "per",
     .unit = "",
     .help = "What has windows of its own: each device, or each node, by the mean of its devices.",
     .choices = kSubjects},
    kPatience,
};

}  // namespace

std::span<const Param> CustomParams() {
  return kParams;
}

Status CheckCustomParams(const Json& parameters) {
  const auto name = parameters["metric"].get<std::string>();
  const auto threshold = parameters["threshold"].get<double>();
  if (parameters["share"] == 100) {
    return Invalid("Custom: share is 100, but must be below 100 %: more than all cannot count");
  }
  const auto [least, most] = RangeOf(name);
  const bool above = parameters["comparison"] == kComparisons[0];
  const bool can_fire = above ? threshold < most : threshold > least;
  if (threshold >= least && threshold <= most && can_fire) return {};
  const std::string range = std::isfinite(most) ? "from 0 to 100 %" : "of at least 0 %";
  return Invalid(Format(
      "Custom: threshold is {:g}, but must be a number {}, the unit of {}, and {}", threshold,
      range, name, above ? "below 100: nothing is above that" : "above 0: nothing is below"));
}

}  // namespace stepscope
