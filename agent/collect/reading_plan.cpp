#include "agent/collect/reading_plan.h"

#include <algorithm>
#include <utility>

namespace stepscope {
namespace {

constexpr unsigned kAtOnce = 2;
// Ticks until the time between two is known: the first is read before there is a grid of ticks.
constexpr unsigned kUntilKnown = 3;
constexpr int kMeanOf = 4;  // readings that the mean of the cost goes back, about
constexpr Duration kBetweenPlans = 10s;
constexpr Duration kShortestInterval = 100ms;

}  // namespace

ReadingPlan::ReadingPlan(std::span<const ReadingKind> kinds, double core_share)
    : kinds_(kinds.begin(), kinds.end()), share_(core_share), rows_(kinds.size()) {}

std::size_t ReadingPlan::Add(const ReadingKind& kind) {
  kinds_.push_back(kind);
  rows_.emplace_back();
  return rows_.size() - 1;
}

void ReadingPlan::Begin(SteadyTime now) {
  if (now_ != SteadyTime()) interval_ = std::min<Duration>(now - now_, kLongest);
  now_ = now;
  if (begun_ < kUntilKnown) ++begun_;
  if (now >= next_plan_) Plan();
}

bool ReadingPlan::Due(std::size_t kind) {
  Row& row = rows_[kind];
  const bool each_tick = kinds_[kind].least == 0ns && row.slowed == 0ns;
  if (row.readings >= kAtOnce && now_ < row.next && !each_tick) return false;
  ++row.readings;
  row.read_at = now_;
  row.next = NextOf(kind);
  return true;
}

// Ticks come a little early and late.
SteadyTime ReadingPlan::NextOf(std::size_t kind) const {
  return rows_[kind].read_at + PeriodOf(kind) - interval_ / 2;
}

void ReadingPlan::Spend(std::size_t kind, Duration cpu) {
  Row& row = rows_[kind];
  // A first reading may load what the later ones find, and a single one may be disturbed.
  const bool first = row.readings <= kAtOnce || row.cost == 0ns;
  const Duration counted = std::min(cpu, 2 * row.cost + Duration(1us));
  row.cost = first ? cpu : row.cost + (counted - row.cost) / kMeanOf;
  if (first) Plan();
}

Duration ReadingPlan::ShortestOf(std::size_t kind) const {
  return std::max({kinds_[kind].least, interval_, kShortestInterval});
}

Duration ReadingPlan::PeriodOf(std::size_t kind) const {
  return std::max(ShortestOf(kind), rows_[kind].slowed);
}

double ReadingPlan::LoadOf(std::size_t kind) const {
  return ToSeconds(rows_[kind].cost) / ToSeconds(PeriodOf(kind));
}

double ReadingPlan::Load() const {
  double load = 0;
  for (std::size_t i = 0; i < rows_.size(); ++i) load += LoadOf(i);
  return load;
}

void ReadingPlan::Plan() {
  if (begun_ < kUntilKnown) return;
  next_plan_ = now_ + kBetweenPlans;
  for (Row& row : rows_) row.before = std::exchange(row.slowed, 0ns);
  while (Load() > share_) {
    const auto price = [&](std::size_t i) {
      return PeriodOf(i) >= kLongest ? 0 : LoadOf(i) / kinds_[i].worth;
    };
    std::size_t dearest = 0;
    for (std::size_t i = 1; i < rows_.size(); ++i) {
      if (price(i) > price(dearest)) dearest = i;
    }
    if (price(dearest) <= 0) break;
    rows_[dearest].slowed = std::min<Duration>(2 * PeriodOf(dearest), kLongest);
  }
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].slowed == rows_[i].before) continue;
    rows_[i].next = NextOf(i);
    ++changes_;
  }
}

std::vector<SlowedReading> ReadingPlan::Slowed() const {
  std::vector<SlowedReading> slowed;
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (rows_[i].slowed > ShortestOf(i))
      slowed.push_back({std::string(kinds_[i].name), rows_[i].slowed});
  }
  return slowed;
}

}  // namespace stepscope
