#include "server/evaluate/step_pulse.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <vector>

#include "server/store/steps/steps.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRead = 50'000;
// Steps are read of the shortest of these that has enough of them.
constexpr Duration kLookBack[] = {15s, 2min, 1h};
constexpr Duration kHearing = 10s;  // until each rank has heard of a window

// `share` of the values are no greater.
Duration Quantile(std::vector<Duration>& values, double share) {
  const auto place = values.begin() + static_cast<std::ptrdiff_t>(share * double(values.size()));
  std::ranges::nth_element(values, place);
  return *place;
}

}  // namespace

StepPulse PulseOf(std::span<const Step> steps) {
  StepPulse pulse;
  if (steps.empty()) return pulse;
  std::vector<Duration> walls, differences;
  for (const Step& step : steps) walls.push_back(step.wall);
  pulse.count = steps.size();
  pulse.newest = steps.back().number;
  pulse.newest_end = steps.back().start + steps.back().wall;
  pulse.median = Quantile(walls, 0.5);
  pulse.quick = Quantile(walls, 0.1);
  for (const Step& step : steps) {
    differences.push_back(std::max(step.wall - pulse.median, pulse.median - step.wall));
  }
  const double median = ToSeconds(pulse.median);
  pulse.deviation = median > 0 ? ToSeconds(Quantile(differences, 0.5)) / median : 0;
  return pulse;
}

Result<StepPulse> ReadPulse(Connection& connection, std::int64_t job_id, int rank, Time now) {
  StepPulse pulse;
  for (const Duration back : kLookBack) {
    const auto steps = ReadSteps(
        connection,
        {.job_id = job_id, .rank = rank, .after_us = ToMicros(now - back), .most_rows = kMostRead});
    if (!steps) return steps.error();
    pulse = PulseOf(*steps);
    if (pulse.count >= static_cast<std::size_t>(kEarlyAfter)) break;
  }
  return pulse;
}

std::int64_t EarliestStep(const StepPulse& steps, Time now) {
  const double ahead = ToSeconds(std::max(now - steps.newest_end, Duration(0)) + kHearing) /
                       std::max(ToSeconds(steps.quick), 1e-6);
  return steps.newest + 2 + static_cast<std::int64_t>(std::llround(std::ceil(ahead)));
}

}  // namespace stepscope
