#include "server/report/measure/job_times.h"

#include "server/store/steps/steps.h"

#include <algorithm>

namespace stepscope {
namespace {

double Between(std::int64_t from_us, std::int64_t to_us) {
  return static_cast<double>(std::max<std::int64_t>(to_us - from_us, 0)) / 1e6;
}

std::int64_t EndOf(const Step& step) {
  return ToMicros(step.start + std::max(step.wall, Duration::zero()));
}

}  // namespace

double JobTimes::Seconds() const {
  return Between(from_us, to_us);
}

std::optional<double> JobTimes::Initialisation() const {
  if (phases) return phases->initialisation;
  if (loop_from_us) return Between(from_us, *loop_from_us);
  return std::nullopt;
}

std::optional<double> JobTimes::Loop() const {
  if (phases) return phases->training + phases->evaluation;
  if (loop_from_us) return Between(*loop_from_us, *loop_to_us);
  return std::nullopt;
}

std::optional<double> JobTimes::Evaluation() const {
  return phases ? std::optional(phases->evaluation) : std::nullopt;
}

std::optional<double> JobTimes::Finalisation() const {
  if (phases && ended) return phases->finalisation;
  if (loop_to_us && ended) return Between(*loop_to_us, to_us);
  return std::nullopt;
}

Result<std::optional<LoopTimes>> ReadLoop(Connection& connection, std::int64_t job_id,
                                          std::span<const RankSummary> ranks) {
  const RankSummary* latest = nullptr;
  LoopTimes loop{INT64_MAX, 0};
  for (const RankSummary& rank : ranks) {
    const std::vector<StepPoint>& points = rank.steps.curve.points();
    if (points.empty()) continue;
    loop.from_us = std::min(loop.from_us, points.front().start_us);
    const bool later =
        latest == nullptr || points.back().start_us > latest->steps.curve.points().back().start_us;
    if (later) latest = &rank;
  }
  if (latest == nullptr) return std::optional<LoopTimes>();
  const std::int64_t last_us = latest->steps.curve.points().back().start_us;
  const auto steps =
      ReadSteps(connection, {.job_id = job_id, .rank = latest->of.rank, .after_us = last_us - 1});
  if (!steps) return steps.error();
  loop.to_us = last_us;
  for (const Step& step : *steps) loop.to_us = std::max(loop.to_us, EndOf(step));
  return std::optional<LoopTimes>(loop);
}

}  // namespace stepscope
