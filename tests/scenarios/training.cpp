#include "tests/scenarios/training.h"

#include <array>
#include <cmath>
#include <numeric>
#include <set>

#include "core/base/text.h"
#include "core/model/metric.h"

namespace stepscope::scenarios {
namespace {

constexpr std::array<double, 4> kComputeParts = {0.3, 0.02, 0.58, 0.1};

// The part of a tick that a rank spent in each phase.
using Shares = std::array<double, kPhaseCount>;

double& Of(Shares& shares, Phase phase) {
  return shares[static_cast<std::size_t>(phase)];
}

Duration Part(Duration whole, double part) {
  return Duration(std::llround(static_cast<double>(whole.count()) * part));
}

class Maker {
 public:
  Maker(const Training& training, Time origin)
      : training_(training), origin_(origin), random_(training.seed) {}

  Job Make();

 private:
  double Noise() { return std::uniform_real_distribution<double>(-1, 1)(random_); }
  Time Origin(std::size_t node) const { return origin_ + training_.ClockAhead(node); }

  void MakeSteps(RankSteps& rank, std::size_t node);
  Step MakeStep(std::int64_t number, Time start);
  void MakeTicks(NodeTicks& ticks, std::size_t node);
  std::vector<Shares> SharesOf(const std::vector<Step>& steps, std::size_t node) const;
  std::vector<std::string> DevicesOf(const Sign& sign, std::size_t node) const;
  void Put(const Sign& sign, std::size_t node, NodeTicks& ticks);
  void PutMeanOfCores(NodeTicks& ticks);
  const std::vector<Shares>& Seen(std::string_view metric, std::size_t device) const;

  const Training& training_;
  const Time origin_;
  std::mt19937_64 random_;
  std::vector<std::vector<Shares>> of_ranks_;  // shares of the ranks of the node that is being made
  std::vector<Shares> of_node_;
};

Job Maker::Make() {
  Job job;
  job.origin = origin_;
  job.facts.interval = training_.interval;
  job.facts.started = origin_;
  for (std::size_t node = 0; node < training_.nodes; ++node) {
    const std::string name = Format("node-{}", node);
    job.facts.nodes.push_back({name, static_cast<int>(training_.cores), training_.gpus});
    job.nodes.push_back({name, {}, {}, {}});
    of_ranks_.clear();
    for (std::size_t local = 0; local < training_.loop.ranks; ++local) {
      const auto number = static_cast<int>(node * training_.loop.ranks + local);
      job.ranks.push_back({number, name, {}});
      job.facts.ranks.push_back({number, name});
      MakeSteps(job.ranks.back(), node);
      of_ranks_.push_back(SharesOf(job.ranks.back().steps, node));
    }
    MakeTicks(job.nodes.back(), node);
  }
  if (!job.ranks.empty()) job.facts.first_rank = origin_;
  return job;
}

Step Maker::MakeStep(std::int64_t number, Time start) {
  const Loop& loop = training_.loop;
  const double noise = loop.noise / 100;
  Step step{number, start, Part(loop.wall, 1 + noise * Noise()), {}};
  for (const auto& [phase, percent] : loop.shares) {
    const double share = percent / 100 * (1 + noise * Noise());
    step.phases[static_cast<std::size_t>(phase)] = Part(step.wall, share);
  }
  return step;
}

// A job that was restarted goes on from its last checkpoint.
void Maker::MakeSteps(RankSteps& rank, std::size_t node) {
  constexpr std::int64_t kCheckpointSteps = 100;
  const Time origin = Origin(node), end = origin + training_.length;
  std::int64_t number = 0;
  for (Time at = origin + training_.loop.start; at < end;) {
    const Outage* restart = training_.OutageAt(OutageKind::kRestart, node, at - origin);
    if (restart != nullptr) {
      at = origin + restart->to + training_.loop.start;
      number -= number % kCheckpointSteps;
      continue;
    }
    Step step = MakeStep(number++, at);
    const auto sum = [&] {
      return std::accumulate(step.phases.begin(), step.phases.end(), Duration::zero());
    };
    const Duration before = sum();
    if (training_.loop.change) training_.loop.change(step, rank.rank);
    step.wall += sum() - before;
    const Duration left = std::max(Duration::zero(), step.wall - sum());
    for (std::size_t i = 0; i < kCompute.size(); ++i) {
      step.phases[static_cast<std::size_t>(kCompute[i])] += Part(left, kComputeParts[i]);
    }
    at = step.start + step.wall;
    if (at < end) rank.steps.push_back(step);
  }
}

// Tick i covers the interval before it.
std::vector<Shares> Maker::SharesOf(const std::vector<Step>& steps, std::size_t node) const {
  const Duration interval = training_.interval;
  std::vector<Shares> ticks(static_cast<std::size_t>(training_.length / interval) + 1);
  for (const Step& step : steps) {
    Duration from = step.start - Origin(node);
    for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
      const Duration to = from + step.phases[phase];
      for (auto tick = static_cast<std::size_t>(from / interval) + 1;
           from < to && tick < ticks.size(); ++tick) {
        const Duration here = std::min(to, interval * static_cast<std::int64_t>(tick)) - from;
        ticks[tick][phase] += static_cast<double>(here.count()) /  //
                              static_cast<double>(interval.count());
        from += here;
      }
      from = to;
    }
  }
  return ticks;
}

void Maker::MakeTicks(NodeTicks& ticks, std::size_t node) {
  const auto count = static_cast<std::size_t>(training_.length / training_.interval);
  of_node_.assign(count + 1, Shares{});
  for (const auto& rank : of_ranks_) {
    for (std::size_t tick = 0; tick < of_node_.size(); ++tick) {
      for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
        of_node_[tick][phase] += rank[tick][phase] / static_cast<double>(of_ranks_.size());
      }
    }
  }
  for (std::size_t tick = 0; tick < count; ++tick) {
    const Duration at = training_.interval * static_cast<std::int64_t>(tick);
    const bool sampled = training_.OutageAt(OutageKind::kNoSamples, node, at) == nullptr &&
                         training_.OutageAt(OutageKind::kRestart, node, at) == nullptr;
    if (sampled) ticks.at_us.push_back(ToMicros(Origin(node) + at));
  }
  for (const Sign& sign : training_.signs) Put(sign, node, ticks);
  PutMeanOfCores(ticks);
}

std::vector<std::string> Maker::DevicesOf(const Sign& sign, std::size_t node) const {
  if (!sign.device.empty()) return {sign.device};
  std::vector<std::string> devices;
  const auto number = [&](std::size_t count, std::string_view kind, std::size_t first = 0) {
    for (std::size_t i = 0; i < count; ++i) devices.push_back(Format("{}{}", kind, first + i));
  };
  switch (FindMetric(sign.metric)->device) {
    case DeviceKind::kNode:
      return {""};
    case DeviceKind::kCpu:
      number(training_.cores, "cpu");
      break;
    case DeviceKind::kGpu:
      number(training_.gpus, "gpu");
      break;
    case DeviceKind::kRank:
      number(training_.loop.ranks, "", node * training_.loop.ranks);
      break;
    case DeviceKind::kDisk:
      return {"nvme0n1"};
    case DeviceKind::kNetwork:
      return {"eth0"};
  }
  return devices;
}

const std::vector<Shares>& Maker::Seen(std::string_view metric, std::size_t device) const {
  const DeviceKind kind = FindMetric(metric)->device;
  const bool of_rank = kind == DeviceKind::kRank || kind == DeviceKind::kGpu;
  if (!of_rank || of_ranks_.empty()) return of_node_;
  return of_ranks_[device % of_ranks_.size()];
}

Column& ColumnOf(NodeTicks& ticks, const SeriesName& name) {
  const auto place = std::ranges::lower_bound(ticks.series, name);
  const auto at = place - ticks.series.begin();
  if (place == ticks.series.end() || *place != name) {
    ticks.series.insert(place, name);
    ticks.columns.insert(ticks.columns.begin() + at, Column{});
  }
  return ticks.columns[static_cast<std::size_t>(at)];
}

void Maker::Put(const Sign& sign, std::size_t node, NodeTicks& ticks) {
  const Metric& metric = *FindMetric(sign.metric);
  const auto devices = DevicesOf(sign, node);
  for (std::size_t i = 0; i < devices.size(); ++i) {
    Column& column = ColumnOf(ticks, {std::string(sign.metric), devices[i]});
    column = Column{metric.scale, {}, {}};
    for (const std::int64_t at_us : ticks.at_us) {
      const Duration at = FromMicros(at_us) - Origin(node);
      Shares seen = Seen(sign.metric, i)[static_cast<std::size_t>(at / training_.interval)];
      double part = 0;
      for (const Phase phase : sign.in) part += Of(seen, phase);
      std::optional<double> value =
          std::max(0.0, sign.level + (sign.there - sign.level) * part + sign.noise * Noise());
      if (metric.unit == "%" && metric.device != DeviceKind::kRank) value = std::min(*value, 100.0);
      if (sign.change) value = sign.change(*value, {node, i, at});
      column.values.push_back(value ? ToScaled(*value, metric.scale) : 0);
      column.present.push_back(value ? 1 : 0);
    }
  }
}

void Maker::PutMeanOfCores(NodeTicks& ticks) {
  std::vector<double> sums(ticks.at_us.size());
  double cores = 0;
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    if (ticks.series[i].metric != "cpu_util_percent") continue;
    for (std::size_t row = 0; row < sums.size(); ++row) sums[row] += ticks.columns[i].At(row);
    ++cores;
  }
  if (cores == 0) return;
  Column& column = ColumnOf(ticks, {"node_cpu_percent", ""}) = Column{2, {}, {}};
  for (const double sum : sums) column.values.push_back(ToScaled(sum / cores, 2));
  column.present.assign(sums.size(), 1);
}

}  // namespace

const Outage* Training::OutageAt(OutageKind kind, std::size_t node, Duration at) const {
  const auto found = std::ranges::find_if(outages, [&](const Outage& outage) {
    return outage.kind == kind && outage.Covers(node, at);
  });
  return found == outages.end() ? nullptr : &*found;
}

Duration Training::ClockAhead(std::size_t node) const {
  const auto found = clock_ahead.find(node);
  return found == clock_ahead.end() ? Duration::zero() : found->second;
}

Job MakeJob(const Training& training, Time origin) {
  return Maker(training, origin).Make();
}

}  // namespace stepscope::scenarios
