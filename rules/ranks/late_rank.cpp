#include "rules/ranks/late_rank.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "rules/ranks/late_words.h"
#include "rules/ranks/work_measures.h"
#include "rules/stats/columns.h"

namespace stepscope {
namespace {

constexpr std::string_view kThreadCpu = "process_thread_cpu_percent", kGpuUse = "gpu_util_percent";
constexpr std::string_view kLateMetrics[] = {kThreadCpu, kGpuUse};

constexpr std::size_t kMostOpen = 100'000;  // bins; only wrong clocks are further ahead
constexpr std::int64_t kLeastCompared = 10;
constexpr std::uint64_t kLeastTimed = 10;  // steps of each rank, by the GPU's clock
constexpr Duration kLeastTime = 10s;
// Parts of the time lost to a late rank that other signs must show at least, or may show at most.
constexpr double kShown = 0.5, kAsLate = 0.75;
// A GPU that is used less does not belong to the training.
constexpr double kUnusedGpu = 0.01;

constexpr std::string_view kHidden =
    "waits for other ranks are in the backward pass or on the GPU's queue, so all ranks look "
    "alike; that needs operator traces";
constexpr std::string_view kStages =
    "the ranks have different phases, as stages of a pipeline do; only those with equal phases are "
    "compared, and none of them is late";
constexpr std::string_view kAsleep =
    "the training threads sleep for a part of the forward and the backward pass, all alike: a rank "
    "that sleeps there looks like one that waits";

// The number of a rank's device: "rank3".
std::optional<int> RankOf(std::string_view device) {
  if (device.starts_with("rank")) device.remove_prefix(4);
  const auto rank = ParseInt(device, "rank");
  const bool fits = rank.ok() && *rank >= 0 && *rank <= std::numeric_limits<int>::max();
  return fits ? std::optional(static_cast<int>(*rank)) : std::nullopt;
}

std::string ApartText(const RankComparison& ranks) {
  if (!ranks.apart()) return "";
  return Format("rank {} does not step together with the others", *ranks.apart());
}

// Why the ranks cannot be compared; "" when they can.
std::string WhatLacks(const RankComparison& ranks) {
  const bool compared = ranks.ranks().size() >= 2;
  if (!compared && ranks.apart()) return ApartText(ranks);
  if (!compared || ranks.StepTime() < kLeastTime) {
    return Format("{} of step time compared; judged from {} on", LengthText(ranks.StepTime()),
                  LengthText(kLeastTime));
  }
  if (ranks.Steps() >= kLeastCompared) return "";
  return Format("{} of {} steps of each rank compared", ranks.Steps(), kLeastCompared);
}

}  // namespace

std::span<const std::string_view> LateRank::Metrics() {
  return kLateMetrics;
}

LateRank::LateRank(const JobFacts& facts, double threshold)
    : limit_(threshold / (1 + threshold)),
      hidden_(std::ranges::any_of(facts.ranks, &RankFacts::hides_communication)),
      sleeps_(!facts.ranks.empty() &&
              std::ranges::all_of(facts.ranks, &RankFacts::sleeps_in_waits)),
      on_gpu_(std::ranges::any_of(facts.ranks, &RankFacts::gpu_async)) {}

LateRank::OpenRank* LateRank::At(Time at, int rank) {
  const std::int64_t bin = RankWork::BinOf(at);
  const auto found = open_.find(bin);
  if (found != open_.end()) return &found->second.ranks[rank];
  return open_.size() == kMostOpen ? nullptr : &open_[bin].ranks[rank];
}

void LateRank::Observe(const StepView& steps) {
  if (steps.steps.empty()) return;
  Rank& rank = ranks_[steps.rank];
  rank.node = steps.node;
  const Step& first = steps.steps.front();
  if (!rank.begin) rank.begin = first.start, rank.first_end = EndedAt(first);
  first_end_ = std::min(first_end_.value_or(*rank.first_end), *rank.first_end);
  for (const Step& step : steps.steps) {
    OpenRank* open = At(EndedAt(step), steps.rank);
    if (open == nullptr) continue;
    open->steps.Add(step);
    if (!step.gpu_idle) continue;
    open->dry_us += std::clamp(*step.gpu_idle, Duration::zero(), step.wall) / 1us;
    ++open->dry_steps;
  }
}

void LateRank::Observe(const TickView& ticks) {
  for (const DeviceColumn& thread : ColumnsOf(ticks, kThreadCpu)) {
    const auto rank = RankOf(thread.device);
    for (std::size_t row = ticks.first; rank && row < ticks.end; ++row) {
      if (!thread.Has(row)) continue;
      OpenRank* open = At(ticks.At(row), *rank);
      if (open == nullptr) continue;
      open->thread +=
          std::clamp<std::int64_t>(std::llround(thread.column->At(row) * 100), 0, 10'000);
      ++open->samples;
    }
  }
  for (const DeviceColumn& use : ColumnsOf(ticks, kGpuUse)) {
    Gpu* gpu = nullptr;
    for (std::size_t row = ticks.first; row < ticks.end; ++row) {
      if (!use.Has(row) || !first_end_ || ticks.At(row) < *first_end_) continue;
      if (gpu == nullptr) gpu = &gpus_[{std::string(ticks.node), use.device, -1}];
      gpu->busy += std::clamp<std::int64_t>(std::llround(use.column->At(row) * 100), 0, 10'000);
      ++gpu->samples;
    }
  }
}

WorkSums LateRank::OpenRank::Samples() const {
  WorkSums sums;
  sums.dry_us = static_cast<std::uint64_t>(dry_us);
  sums.dry_steps = static_cast<std::uint64_t>(dry_steps);
  sums.thread = static_cast<std::uint64_t>(thread);
  sums.samples = static_cast<std::uint64_t>(samples);
  return sums;
}

void LateRank::Scan(Time at) {
  doubled_ = std::clamp<std::int64_t>(doubled_, 0, 31);  // a state may be damaged
  for (auto& [number, rank] : ranks_) rank.work.BeginScan();
  const std::int64_t end = RankWork::BinOf(at);
  while (!open_.empty() && open_.begin()->first < end) {
    const auto node = open_.extract(open_.begin());
    Close(node.key(), node.mapped());
  }
  while (IsTooLong()) {
    ++doubled_;
    for (auto& [number, rank] : ranks_) rank.work.Double();
  }
}

// Samples from before the end of a rank's first step are not its training's.
void LateRank::Close(std::int64_t bin, const OpenBin& open) {
  for (const auto& [number, sums] : open.ranks) {
    const auto rank = ranks_.find(number);
    if (rank == ranks_.end() || bin < RankWork::BinOf(rank->second.first_end.value_or(Time())))
      continue;
    rank->second.work.Add(bin >> doubled_, sums.steps, sums.Samples());
  }
}

bool LateRank::IsTooLong() const {
  std::optional<std::int64_t> first, last;
  for (const auto& [number, rank] : ranks_) {
    if (rank.work.bins().empty()) continue;
    const std::int64_t from = rank.work.bins().begin()->first;
    const std::int64_t to = rank.work.bins().rbegin()->first;
    first = std::min(first.value_or(from), from);
    last = std::max(last.value_or(to), to);
  }
  return first && *last - *first >= RankWork::kMostBins;
}

// A host that has more to do delays nobody while its GPU still has work: some GPU of the node must
// have idled.
bool LateRank::IdlesEnough(const std::string& node, double lost) const {
  return std::ranges::any_of(gpus_, [&](const auto& each) {
    const auto& [subject, gpu] = each;
    const double use = static_cast<double>(gpu.busy) / static_cast<double>(gpu.samples) / 10'000;
    return subject.node == node && use > kUnusedGpu && 1 - use > lost * kShown;
  });
}

// A thread that slept while others ran may have waited in a phase in which ranks usually do not.
bool LateRank::Contradicts(const RankComparison& ranks, const Evidence& late) const {
  return sleeps_ && ranks.Above(late.rank, ThreadTime) < -late.lost * kShown;
}

// A rank sleeps as long as another one is late: all ranks but one do.
bool LateRank::NobodySleeps(const RankComparison& ranks) const {
  std::size_t awake = 0;
  for (const auto& rank : ranks.ranks()) {
    const auto asleep = AsleepInMixed(rank.sums);
    if (!asleep) return false;
    awake += *asleep < limit_;
  }
  return awake >= 2;
}

bool LateRank::OthersSleep(const RankComparison& ranks, const Evidence& late) const {
  const double asleep = ranks.MedianOfOthers(late.rank, AsleepInMixed).value_or(0);
  return asleep > late.lost * kShown && ranks.Above(late.rank, OwnWork) > -late.lost * kShown;
}

// The measures that tell of a late rank, the surest first. Where the GPU's clock is known, a host
// that has more to do counts as far as its GPU ran dry.
std::vector<WorkMeasure> LateRank::Measures(const RankComparison& ranks) const {
  const bool by_gpu = std::ranges::all_of(ranks.ranks(), [](const RankComparison::Rank& rank) {
    return DryGpu(rank.sums).has_value() && rank.sums.dry_steps >= kLeastTimed;
  });
  std::vector<WorkMeasure> measures = {by_gpu ? DryGpu : OwnWork};
  if (!ranks.has_roles()) measures.push_back(NotInCalls);
  if (!ranks.has_roles() && sleeps_) measures.push_back(OwnAndLoose);
  return measures;
}

LateRank::Judgement LateRank::JudgePhases(const RankComparison& ranks) const {
  std::string reason;
  for (const WorkMeasure measure : Measures(ranks)) {
    const auto late = ranks.Latest(measure, limit_);
    if (!late) continue;
    const int number = ranks.ranks()[late->rank].number;
    if (Contradicts(ranks, *late)) {
      reason = Format(
          "rank {} spends {:.0f} % more of a step in its own phases than the others, "
          "but its thread sleeps longer",
          number, late->lost * 100);
    } else if (on_gpu_ && measure != DryGpu && !IdlesEnough(ranks_.at(number).node, late->lost)) {
      reason = Format(
          "rank {} works {:.0f} % longer on the host than the others, but no GPU of its "
          "node is seen to wait for it",
          number, late->lost * 100);
    } else {
      return {Describe(ranks, *late, measure), ""};
    }
  }
  return {std::nullopt, reason};
}

// Where threads sleep while they wait, the one that runs is the one that others wait for. A stage
// of a pipeline has other work than the next one.
LateRank::Judgement LateRank::JudgeThreads(const RankComparison& ranks) const {
  if (ranks.has_roles()) return {std::nullopt, std::string(kStages)};
  if (!hidden_) return {};
  const bool judged = sleeps_ && !on_gpu_;
  const auto late = judged ? ranks.Latest(ThreadTime, limit_) : std::nullopt;
  if (late && OthersSleep(ranks, *late)) return {Describe(ranks, *late, ThreadTime), ""};
  if (judged && NobodySleeps(ranks)) return {};
  const bool sampled = std::ranges::all_of(
      ranks.ranks(), [](const RankComparison::Rank& rank) { return rank.sums.samples > 0; });
  return {std::nullopt, std::string(judged && sampled ? kAsleep : kHidden)};
}

LateRank::Judgement LateRank::Judge() const {
  std::vector<std::pair<int, const RankWork*>> works;
  for (const auto& [number, rank] : ranks_) {
    if (rank.work.steps().steps() > 0) works.emplace_back(number, &rank.work);
  }
  if (ranks_.empty()) return {std::nullopt, "no steps reported"};
  if (ranks_.size() == 1) return {std::nullopt, "one rank has nobody to wait for"};
  const RankComparison ranks(works);
  if (const std::string lacks = WhatLacks(ranks); !lacks.empty()) return {std::nullopt, lacks};
  Judgement judgement = JudgePhases(ranks);
  if (judgement.found || !judgement.reason.empty()) return judgement;
  judgement = JudgeThreads(ranks);
  if (!judgement.found && judgement.reason.empty()) judgement.reason = ApartText(ranks);
  return judgement;
}

LateRank::Found LateRank::Describe(const RankComparison& ranks, const Evidence& late,
                                   WorkMeasure measure) const {
  const auto& of = ranks.ranks()[late.rank];
  const Rank& rank = ranks_.at(of.number);
  const StepSums& steps = of.work->steps();
  const StepDifferences differences(steps, ranks.Others(late.rank));
  Found found;
  found.rank = of.number;
  found.node = rank.node;
  found.lost = late.lost;
  const Duration step = steps.MeanWall() + MeanEvaluation(steps);
  found.longer = std::chrono::duration_cast<Duration>(step * late.lost);
  found.waits = differences.WaitsIn(found.longer);
  if (measure == ThreadTime) {
    found.what = differences.OwnWorkIn(found.longer);
  } else {
    differences.TellLongest(found);
  }
  for (std::size_t other = 0; other < ranks.ranks().size(); ++other) {
    found.also += other != late.rank && ranks.Above(other, measure) > late.lost * kAsLate;
  }
  found.active = ranks.AboveOfLate(late.rank, measure) > limit_ * kShown;
  found.steps = static_cast<std::int64_t>(of.sums.steps);
  found.late = static_cast<double>(late.late_us) / static_cast<double>(of.sums.wall_us);
  found.fresh = of.work->Fresh();
  found.from = std::max(RankWork::BeginOf(late.first, doubled_), rank.begin.value_or(Time()));
  found.to = RankWork::BeginOf(late.last + 1, doubled_);
  return found;
}

}  // namespace stepscope
