#include "bench/rules/training_hour.h"

#include <algorithm>
#include <random>

#include "bench/series.h"
#include "rules/engine/next_check.h"

namespace stepscope {
namespace {

constexpr std::size_t kGpus = 8, kCores = 16;
constexpr Duration kInterval = 500ms, kHour = 3600s, kStep = 250ms;
constexpr Time kOrigin = Time(std::chrono::seconds(1'790'000'000));
constexpr const char* kNode = "node-0";

std::size_t DevicesOf(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::kGpu:
    case DeviceKind::kRank:
      return kGpus;
    case DeviceKind::kCpu:
      return kCores;
    default:
      return 1;
  }
}

// Makes steps of about equal length, each with its phases; now and then a step waits for data.
std::vector<Step> MakeSteps(int rank) {
  std::mt19937_64 random(static_cast<std::uint64_t>(rank));
  const auto part = [&random](double of_step, double noise) {
    const double around = std::uniform_real_distribution<double>(1 - noise, 1 + noise)(random);
    return Duration(
        static_cast<std::int64_t>(static_cast<double>(kStep.count()) * of_step * around));
  };
  std::vector<Step> steps;
  for (Time at = kOrigin; at + 2 * kStep < kOrigin + kHour; at += steps.back().wall) {
    Step step{static_cast<std::int64_t>(steps.size()), at, {}, {}};
    const auto put = [&step](Phase phase, Duration wall) {
      step.phases[static_cast<std::size_t>(phase)] = wall, step.wall += wall;
    };
    put(Phase::kData, part(steps.size() % 500 == 499 ? 0.9 : 0.03, 0.5));
    put(Phase::kForward, part(0.3, 0.01));
    put(Phase::kBackward, part(0.5, 0.01));
    put(Phase::kCommunication, part(0.02, 0.3));
    put(Phase::kOptimizer, part(0.1, 0.01));
    steps.push_back(step);
  }
  return steps;
}

}  // namespace

TrainingHour::TrainingHour(const RuleType& rule) {
  for (const std::string_view name : rule.metrics) {
    const std::size_t devices = DevicesOf(FindMetric(name)->device);
    for (std::size_t i = 0; i < devices; ++i) {
      const bool node = FindMetric(name)->device == DeviceKind::kNode;
      series_.push_back({std::string(name), node ? "" : std::to_string(i)});
    }
  }
  std::ranges::sort(series_);
  for (Duration at{}; at < kHour; at += kInterval) at_us_.push_back(ToMicros(kOrigin + at));
  std::mt19937_64 random(1);
  for (const SeriesName& name : series_) {
    SampledSeries sampled(*FindMetric(name.metric), random);
    Column column{sampled.scale(), {}, {}};
    for (std::size_t row = 0; row < at_us_.size(); ++row) column.values.push_back(sampled.Next());
    columns_.push_back(std::move(column));
  }
  if (rule.steps == StepNeed::kNone) return;
  steps_until_ = rule.steps == StepNeed::kFirst ? kScan : Duration::max();
  for (std::size_t rank = 0; rank < kGpus; ++rank) {
    steps_.push_back(MakeSteps(static_cast<int>(rank)));
  }
}

JobFacts TrainingHour::Facts() {
  JobFacts facts;
  facts.started = facts.first_rank = kOrigin;
  facts.nodes.push_back({kNode, kCores, kGpus});
  for (std::size_t i = 0; i < kGpus; ++i) facts.ranks.push_back({static_cast<int>(i), kNode});
  return facts;
}

void TrainingHour::MoveTo(Duration from) {
  const Duration by = from - begin_;
  const auto hours = by / kHour;
  for (std::int64_t& at : at_us_) at += by / 1us;
  for (auto& rank : steps_) {
    const auto numbers = hours * static_cast<std::int64_t>(rank.size());
    for (Step& step : rank) step.start += by, step.number += numbers;
  }
  begin_ = from;
}

void TrainingHour::Show(Duration from, Duration length, Fold& fold) const {
  const Time begin = kOrigin + from, end = begin + length;
  for (std::size_t rank = 0; rank < steps_.size() && from < steps_until_; ++rank) {
    const auto ended = [](const Step& step) { return step.start + step.wall; };
    const auto first = std::ranges::lower_bound(steps_[rank], begin, {}, ended);
    const auto last = std::ranges::lower_bound(steps_[rank], end, {}, ended);
    if (first != last) fold.Observe(StepView{static_cast<int>(rank), kNode, {first, last}});
  }
  if (series_.empty()) return;
  const auto row = [this](Time at) {
    return static_cast<std::size_t>(std::ranges::lower_bound(at_us_, ToMicros(at)) -
                                    at_us_.begin());
  };
  fold.Observe(TickView{kNode, at_us_, series_, columns_, row(begin), row(end)});
}

void TrainingHour::ShowAll(Fold& fold) const {
  for (Duration at = begin_; at < begin_ + kHour; at += kScan) {
    const Time scan = kOrigin + at + kScan;
    Duration shown = at;
    auto look = NextCheck(fold, kOrigin, kOrigin + at, scan);
    while (look) {
      Show(shown, *look - kOrigin - shown, fold);
      shown = *look - kOrigin;
      bool fresh = true;
      look = CheckFold(fold, fresh, kOrigin, *look, scan);
    }
    Show(shown, at + kScan - shown, fold);
    fold.Scan(scan);
  }
}

std::size_t TrainingHour::steps() const {
  std::size_t steps = 0;
  if (steps_until_ != Duration::max()) return steps;
  for (const auto& rank : steps_) steps += rank.size();
  return steps;
}

}  // namespace stepscope
