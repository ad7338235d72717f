#include "rules/rhythm.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "rules/packing.h"

namespace stepscope {
namespace {

constexpr double kChance = 1e-3;         // of any wrong rhythm in a job
constexpr double kAlike = 3;             // runs of a size differ by no more than this factor
constexpr std::size_t kMostLags = 64;    // of a run to older ones that are tried
constexpr std::int64_t kMostMissed = 1;  // in a row

// How far a beat may be from where it is expected: two steps, or 2 % where a rhythm is one of time.
std::int64_t Tolerance(double period) {
  const double most = std::max(2.0, period / 50);
  return static_cast<std::int64_t>(std::min(most, (period - 1) / 2));
}

bool IsAlike(double excess_ns, double other_ns) {
  return excess_ns <= kAlike * other_ns && other_ns <= kAlike * excess_ns;
}

// Of h hits in t trials against a chance of p each, in nats.
double Divergence(double hits, double p) {
  if (hits <= p) return 0;
  const double misses = 1 - hits;
  const double missed = misses > 0 ? misses * std::log(misses / (1 - p)) : 0;
  return hits * std::log(hits / p) + missed;
}

}  // namespace

bool Rhythm::IsOver(std::int64_t position) const {
  const double most = static_cast<double>(kMostMissed + 1) * period;
  return static_cast<double>(position - last) > most + static_cast<double>(Tolerance(period));
}

bool Rhythm::Take(const SlowRun& run) {
  const auto gap = static_cast<double>(run.at - last);
  const auto times = static_cast<std::int64_t>(std::llround(gap / period));
  if (times < 1 || times > kMostMissed + 1) return false;
  const double off = std::abs(gap - static_cast<double>(times) * period);
  const double mean_ns = static_cast<double>(excess_ns) / static_cast<double>(beats);
  if (off > static_cast<double>(Tolerance(period)) ||
      !IsAlike(static_cast<double>(run.excess_ns), mean_ns)) {
    return false;
  }
  missed += times - 1;
  period += (gap / static_cast<double>(times) - period) / 8;
  Count(run);
  return true;
}

void Rhythm::Count(const SlowRun& run) {
  if (beats++ == 0) {
    first = run.at;
    from = run.from;
  }
  last = run.at;
  to = run.to;
  excess_ns += run.excess_ns;
  grew_ns[run.grew] += run.excess_ns;
  newest[run.at] = run.excess_ns;
  if (newest.size() > kMostKept) newest.erase(newest.begin());
}

double Rhythm::Cost() const {
  const auto length = static_cast<double>((to - from).count());
  return std::min(1.0, static_cast<double>(excess_ns) / std::max(length, 1.0));
}

std::size_t Rhythm::Grew() const {
  return static_cast<std::size_t>(std::ranges::max_element(grew_ns) - grew_ns.begin());
}

void LooseRuns::Add(const SlowRun& run) {
  runs_[run.at] = run;
  if (runs_.size() > kMost) runs_.erase(runs_.begin());
}

std::string LooseRuns::Save() const {
  std::vector<std::uint64_t> numbers;
  for (const auto& [at, run] : runs_) {
    for (const std::int64_t number : {at, run.from.time_since_epoch().count(),
                                      run.to.time_since_epoch().count(), run.excess_ns}) {
      numbers.push_back(static_cast<std::uint64_t>(number));
    }
    numbers.push_back(run.grew);
  }
  return PackNumbers(numbers);
}

Status LooseRuns::Load(const Json& packed) {
  constexpr std::size_t kNumbers = 5;
  const auto numbers = UnpackNumbers(packed, kNumbers * kMost);
  if (!numbers.ok()) return numbers.error();
  if (numbers->size() % kNumbers != 0) return Invalid("state: slow steps are no rows");
  runs_.clear();
  for (std::size_t i = 0; i < numbers->size(); i += kNumbers) {
    const auto number = [&](std::size_t which) {
      return static_cast<std::int64_t>((*numbers)[i + which]);
    };
    if ((*numbers)[i + 4] >= kGrowths) return Invalid("state: slow steps in an unknown phase");
    const SlowRun run{number(0), Time(Duration(number(1))), Time(Duration(number(2))), number(3),
                      (*numbers)[i + 4]};
    runs_[run.at] = run;
  }
  return {};
}

// From the newest position back over those that are as far apart as it is from `second`.
Rhythms::Chain Rhythms::ChainOf(const std::vector<std::int64_t>& at, std::size_t second) {
  const std::int64_t newest = at.back();
  Chain chain{{newest, at[second]}, 0, 0, static_cast<double>(newest - at[second])};
  std::int64_t gaps = 1, missed = 0;
  while (missed <= kMostMissed) {
    const double expected =
        static_cast<double>(chain.beats.back()) - static_cast<double>(missed + 1) * chain.period;
    const std::int64_t tolerance = Tolerance(chain.period), place = std::llround(expected);
    if (place < at.front() - tolerance) break;
    auto near = std::ranges::lower_bound(at, place);
    if (near == at.end() || (near != at.begin() && place - *(near - 1) <= *near - place)) --near;
    if (std::abs(*near - place) > tolerance || *near >= chain.beats.back()) {
      ++missed;
      continue;
    }
    chain.furthest = std::max(chain.furthest, std::abs(*near - place));
    chain.beats.push_back(*near);
    gaps += missed + 1;
    missed = 0;
    chain.period = static_cast<double>(newest - *near) / static_cast<double>(gaps);
  }
  chain.trials = gaps - 1;
  return chain;
}

bool Rhythms::IsTooRegular(const Chain& chain, const std::vector<std::int64_t>& at, double chance) {
  const auto length = static_cast<double>(at.back() - chain.beats.back());
  const auto there = at.end() - std::ranges::lower_bound(at, chain.beats.back());
  const double rate = std::min(1.0, static_cast<double>(there) / length);
  const double p = 1 - std::pow(1 - rate, static_cast<double>(2 * chain.furthest + 1));
  const auto trials = static_cast<double>(chain.trials);
  const double hits = static_cast<double>(chain.beats.size() - 2) / trials;
  // How far beats may be off was chosen afterwards, from these many.
  const auto choices = static_cast<double>(Tolerance(chain.period) + 1);
  return trials * Divergence(hits, p) >= std::log(choices / chance);
}

// The one with the most beats of those that no chance explains; without beats when there is none.
Rhythms::Chain Rhythms::Longest(const SlowRun& run, std::int64_t least_repeats) const {
  std::vector<std::int64_t> at;
  for (const auto& [position, each] : loose_.runs()) {
    const bool alike =
        IsAlike(static_cast<double>(each.excess_ns), static_cast<double>(run.excess_ns));
    if (alike) at.push_back(position);
  }
  Chain longest;
  const std::size_t lags = std::min(at.size() - 1, kMostLags);
  const auto n = static_cast<double>(seen_);
  const double chance =
      kChance / (n * (n + 1)) / static_cast<double>(std::max<std::size_t>(lags, 1));
  for (std::size_t lag = 1; lag <= lags; ++lag) {
    Chain chain = ChainOf(at, at.size() - 1 - lag);
    if (static_cast<std::int64_t>(chain.beats.size()) <= least_repeats) continue;
    if (chain.beats.size() <= longest.beats.size() || !IsTooRegular(chain, at, chance)) continue;
    longest = std::move(chain);
  }
  return longest;
}

// Without room there is none: the live ones are more than anybody wants to read about.
const Rhythm* Rhythms::Begin(const Chain& chain) {
  const std::int64_t now = chain.beats.front();
  std::erase_if(rhythms_, [&](const auto& each) {
    return rhythms_.size() >= kMost && each.second.IsOver(now) &&
           each.second.excess_ns <= std::ranges::min_element(rhythms_, {}, [](const auto& other) {
                                      return other.second.excess_ns;
                                    })->second.excess_ns;
  });
  const auto live =
      std::ranges::count_if(rhythms_, [&](const auto& each) { return !each.second.IsOver(now); });
  if (rhythms_.size() >= kMost || static_cast<std::size_t>(live) >= kMostLive) return nullptr;
  Rhythm& rhythm = rhythms_[next_++];
  rhythm.period = chain.period;
  for (auto beat = chain.beats.rbegin(); beat != chain.beats.rend(); ++beat) {
    rhythm.Count(loose_.runs().at(*beat));
    loose_.Remove(*beat);
  }
  rhythm.missed = chain.trials + 2 - rhythm.beats;
  return &rhythm;
}

const Rhythm* Rhythms::Add(const SlowRun& run, std::int64_t least_repeats) {
  ++seen_;
  for (auto& [number, rhythm] : rhythms_) {
    if (!rhythm.IsOver(run.at) && rhythm.Take(run)) return &rhythm;
  }
  loose_.Add(run);
  const Chain chain = Longest(run, least_repeats);
  return chain.beats.empty() ? nullptr : Begin(chain);
}

}  // namespace stepscope
