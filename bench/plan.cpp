#include "bench/plan.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/model/metric.h"

namespace stepscope {
namespace {

constexpr Option kOptions[] = {
    {"--frames", "FILE", "", "Pushes: node number (u32), length (u32), body."},
    {"--rows", "FILE", "", "Text for COPY: time, series number, value."},
    {"--import", "FILE", "", "Bodies for VictoriaMetrics, framed as the pushes."},
    {"--remote-write", "FILE", "", "The same for Prometheus."},
    {"--influx", "FILE", "", "The same for InfluxDB."},
    {"--metric", "NAME", "",
     "The only metric of the table; those that the goals are set for when left out."},
    {"--all-metrics", "", "", "All metrics of the table, six of each core and 22 of each GPU."},
    {"--job", "NAME", "bench", "Name of the job."},
    {"--job-each", "", "", "Each node is a job of its own, NAME-0, NAME-1 and so on."},
    {"--nodes", "N", "20", "Nodes, each with a session of its own."},
    {"--cores", "N", "64", "Cores of a node: two series each."},
    {"--gpus", "N", "8", "GPUs of a node: six series each."},
    {"--ranks", "N", "0", "Ranks of a node, which tell of their steps."},
    {"--step-ms", "N", "1000", "About how long a step takes."},
    {"--seconds", "N", "60", "Time that is sampled."},
    {"--tick-ms", "N", "500", "Time between two ticks."},
    {"--push-seconds", "N", "2", "Time that one push holds."},
    {"--begin-us", "N", "1795205614000000", "Time of the first tick."},
};

// A number that is not too small; the error names the option.
Result<std::int64_t> Number(const Arguments& arguments, std::string_view option,
                            std::int64_t least) {
  Result<std::int64_t> number = ParseInt(arguments[option], option);
  if (number && *number < least) return Invalid(Format("{}: must be at least {}", option, least));
  return number;
}

}  // namespace

std::span<const Option> PlanOptions() {
  return kOptions;
}

Result<Plan> ReadPlan(const Arguments& arguments) {
  Plan plan;
  plan.job = arguments["--job"];
  plan.metric = arguments["--metric"];
  if (!plan.metric.empty() && !FindMetric(plan.metric)) {
    return Invalid(Format("--metric: no metric is named \"{}\"", plan.metric));
  }
  plan.job_each = arguments.Has("--job-each");
  plan.all_metrics = arguments.Has("--all-metrics");
  std::int64_t seconds = 0, push_seconds = 0, tick_ms = 0, step_ms = 0;
  const struct {
    std::string_view option;
    std::int64_t& place;
    std::int64_t least = 1;
  } numbers[] = {
      {"--nodes", plan.nodes}, {"--cores", plan.cores},          {"--gpus", plan.gpus, 0},
      {"--seconds", seconds},  {"--ranks", plan.ranks, 0},       {"--step-ms", step_ms},
      {"--tick-ms", tick_ms},  {"--push-seconds", push_seconds}, {"--begin-us", plan.begin_us},
  };
  for (const auto& [option, place, least] : numbers) {
    const Result<std::int64_t> number = Number(arguments, option, least);
    if (!number) return number.error();
    place = *number;
  }
  plan.step_us = step_ms * 1000;
  plan.tick_us = tick_ms * 1000;
  plan.ticks = std::max<std::int64_t>(1, seconds * 1000 / tick_ms);
  plan.ticks_per_push = std::max<std::int64_t>(1, push_seconds * 1000 / tick_ms);
  return plan;
}

}  // namespace stepscope
