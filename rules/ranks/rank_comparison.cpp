#include "rules/ranks/rank_comparison.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

namespace stepscope {
namespace {

constexpr double kPresent = 0.8;     // part of the ranks that a compared bin has steps of
constexpr double kOften = 0.5;       // part of the compared bins that a rank has steps in
constexpr double kWallApart = 0.05;  // mean steps of ranks that step together differ by less
constexpr double kRateApart = 0.15;  // and their numbers of steps in a bin by less
// Lateness is spread over at least so many bins, where equal parts in n bins are n.
constexpr double kLeastSpread = 4;
// Time in which the rank was ahead of the others, as part of the time in which it was late.
constexpr double kMostAhead = 1.0 / 3;
constexpr std::size_t kMostTried = 8;  // ranks whose course is looked at

// A stage of a pipeline lacks some of these. A rank may as well have no wait for data by chance:
// the last phase only tells stages apart where there are any.
constexpr Phase kRole[] = {Phase::kForward, Phase::kLoss, Phase::kBackward, Phase::kOptimizer,
                           Phase::kData};

double LowerMedian(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>((values.size() - 1) / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

unsigned RoleOf(const StepSums& sums) {
  unsigned role = 0;
  for (const Phase phase : kRole) {
    role = role << 1U | static_cast<unsigned>(sums.phase(phase) > Duration::zero());
  }
  return role;
}

const WorkSums& InBin(const RankWork& work, std::int64_t bin) {
  static const WorkSums kNone;
  const auto found = work.bins().find(bin);
  return found == work.bins().end() ? kNone : found->second;
}

bool IsNear(double value, double median, double apart) {
  return std::abs(value - median) <= apart * median;
}

// What is told of a rank in the bins that most ranks have steps in.
struct Presence {
  RankComparison::Rank rank;
  double bins = 0;

  double MeanWall() const {
    return static_cast<double>(rank.sums.wall_us) / static_cast<double>(rank.sums.steps);
  }
  double Rate() const { return static_cast<double>(rank.sums.steps) / bins; }
};

Presence PresenceOf(int number, const RankWork& work, const std::set<std::int64_t>& bins) {
  Presence presence{{number, &work, {}, RoleOf(work.steps())}};
  for (const std::int64_t bin : bins) {
    const WorkSums& sums = InBin(work, bin);
    if (sums.steps == 0) continue;
    presence.rank.sums.Add(sums);
    ++presence.bins;
  }
  return presence;
}

template <typename Value>
double Median(const std::vector<Presence>& all, Value value) {
  std::vector<double> values;
  for (const Presence& each : all) values.push_back(value(each));
  return LowerMedian(values);
}

}  // namespace

RankComparison::RankComparison(const std::vector<std::pair<int, const RankWork*>>& works) {
  std::map<std::int64_t, double> present;
  for (const auto& [number, work] : works) {
    for (const auto& [bin, sums] : work->bins()) present[bin] += sums.steps > 0;
  }
  for (const auto& [bin, ranks] : present) {
    if (ranks >= kPresent * static_cast<double>(works.size())) bins_.insert(bin);
  }
  std::vector<Presence> all;
  for (const auto& [number, work] : works) {
    Presence presence = PresenceOf(number, *work, bins_);
    const bool often =
        presence.bins > 0 && presence.bins >= kOften * static_cast<double>(bins_.size());
    if (often) all.push_back(presence);
    if (!often && !bins_.empty()) apart_ = number;
  }
  if (all.empty()) return;
  const double wall = Median(all, [](const Presence& each) { return each.MeanWall(); });
  const double rate = Median(all, [](const Presence& each) { return each.Rate(); });
  for (const Presence& each : all) {
    if (IsNear(each.MeanWall(), wall, kWallApart) && IsNear(each.Rate(), rate, kRateApart)) {
      ranks_.push_back(each.rank);
    } else {
      apart_ = each.rank.number;
    }
  }
  TellRoles();
}

// Without stages all ranks have one role.
void RankComparison::TellRoles() {
  has_roles_ = std::ranges::any_of(
      ranks_, [&](const Rank& rank) { return rank.role >> 1U != ranks_.front().role >> 1U; });
  if (has_roles_) return;
  for (Rank& rank : ranks_) rank.role = 0;
}

Duration RankComparison::StepTime() const {
  std::uint64_t least_us = ranks_.empty() ? 0 : ranks_.front().sums.wall_us;
  for (const Rank& rank : ranks_) least_us = std::min(least_us, rank.sums.wall_us);
  return static_cast<std::int64_t>(least_us) * 1us;
}

std::int64_t RankComparison::Steps() const {
  std::uint64_t least = ranks_.empty() ? 0 : ranks_.front().sums.steps;
  for (const Rank& rank : ranks_) least = std::min(least, rank.sums.steps);
  return static_cast<std::int64_t>(least);
}

// `sums` gives the sums of a rank; those without steps do not count.
template <typename Sums>
std::optional<double> RankComparison::MedianOf(std::size_t rank, Sums sums,
                                               WorkMeasure measure) const {
  std::vector<double> values;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (i == rank || ranks_[i].role != ranks_[rank].role) continue;
    const WorkSums& of = sums(ranks_[i]);
    const auto value = of.steps > 0 ? measure(of) : std::nullopt;
    if (value) values.push_back(*value);
  }
  return values.empty() ? std::nullopt : std::optional(LowerMedian(values));
}

template <typename Sums>
std::optional<double> RankComparison::AboveIn(std::size_t rank, Sums sums,
                                              WorkMeasure measure) const {
  const WorkSums& own = sums(ranks_[rank]);
  const auto value = own.steps > 0 ? measure(own) : std::nullopt;
  const auto median = value ? MedianOf(rank, sums, measure) : std::nullopt;
  return median ? std::optional(*value - *median) : std::nullopt;
}

std::optional<double> RankComparison::MedianOfOthers(std::size_t rank, WorkMeasure measure) const {
  return MedianOf(rank, std::mem_fn(&Rank::sums), measure);
}

double RankComparison::Above(std::size_t rank, WorkMeasure measure) const {
  return AboveIn(rank, std::mem_fn(&Rank::sums), measure).value_or(0);
}

double RankComparison::AboveOfLate(std::size_t rank, WorkMeasure measure) const {
  const auto recent = [](const Rank& each) { return each.work->Recent(); };
  return AboveIn(rank, recent, measure).value_or(0);
}

bool RankComparison::Lasts(Lateness& late, WorkMeasure measure, double limit) const {
  double behind = 0, ahead = 0, squares = 0;
  for (const std::int64_t bin : bins_) {
    const auto in_bin = [bin](const Rank& each) -> const WorkSums& {
      return InBin(*each.work, bin);
    };
    const auto above = AboveIn(late.rank, in_bin, measure);
    if (!above) continue;
    const std::uint64_t wall_us = in_bin(ranks_[late.rank]).wall_us;
    const double time = *above * static_cast<double>(wall_us);
    (time > 0 ? behind : ahead) += std::abs(time);
    if (time > 0) squares += time * time;
    if (*above <= limit / 2) continue;
    if (late.late_us == 0) late.first = bin;
    late.last = bin;
    late.late_us += wall_us;
  }
  return squares > 0 && behind * behind >= kLeastSpread * squares && ahead <= kMostAhead * behind;
}

std::optional<RankComparison::Lateness> RankComparison::Latest(WorkMeasure measure,
                                                               double limit) const {
  std::vector<Lateness> late;
  for (std::size_t rank = 0; rank < ranks_.size(); ++rank) {
    const double lost = Above(rank, measure);
    if (lost > limit) late.push_back({rank, lost});
  }
  std::ranges::stable_sort(late, std::greater<>(), &Lateness::lost);
  if (late.size() > kMostTried) late.resize(kMostTried);
  for (Lateness& each : late) {
    if (Lasts(each, measure, limit)) return each;
  }
  return std::nullopt;
}

StepSums RankComparison::Others(std::size_t rank) const {
  StepSums others;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (i != rank && ranks_[i].role == ranks_[rank].role) others.Add(ranks_[i].work->steps());
  }
  return others;
}

}  // namespace stepscope
