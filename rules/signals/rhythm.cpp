#include "rules/signals/rhythm.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>

#include "rules/engine/packing.h"
#include "rules/signals/host_activity.h"

namespace stepscope {
namespace {

constexpr double kChance = 1e-3;         // chance of any wrong rhythm in a job
constexpr double kAlike = 3;             // runs of a size differ by no more than this factor
constexpr std::size_t kMostLags = 64;    // older runs that a run is paired with
constexpr std::int64_t kMostMissed = 1;  // missed beats in a row
constexpr unsigned kRhythmSigns[] = {HostActivity::kCpu, HostActivity::kWrite, HostActivity::kSend};
constexpr double kMostBeats = 0.7;  // part of the beats with samples that must show the sign
// Phases that a step of many batches has once.
constexpr Phase kOwnWork[] = {Phase::kBackward, Phase::kCommunication, Phase::kOptimizer};
constexpr double kLongestOwn = 64;      // steps
constexpr std::int64_t kMostSeen = 64;  // beats after which older ones count half

// How far a beat may be from its expected position: two steps, or 2 % for a rhythm of time.
std::int64_t Tolerance(double period) {
  const double most = std::max(2.0, period / 50);
  return static_cast<std::int64_t>(std::min(most, (period - 1) / 2));
}

std::int64_t ToNanos(Time time) {
  return time.time_since_epoch().count();
}

bool IsAlike(double excess_ns, double other_ns) {
  return excess_ns <= kAlike * other_ns && other_ns <= kAlike * excess_ns;
}

// The Kullback-Leibler divergence of a share of hits from their chance p, in nats.
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
  return true;
}

void Rhythm::Count(const SlowRun& run) {
  if (beats++ == 0) from = run.from;
  last = run.at;
  to = run.to;
  excess_ns += run.excess_ns;
  grew_ns[run.grew] += run.excess_ns;
}

void Rhythm::Tell(unsigned signs) {
  if ((signs & HostActivity::kSeen) == 0) return;
  if (seen == kMostSeen) {
    seen /= 2;
    for (std::int64_t& each : shown) each /= 2;
  }
  ++seen;
  for (std::size_t i = 0; i < shown.size(); ++i) shown[i] += (signs & kRhythmSigns[i]) != 0;
}

unsigned Rhythm::Signs() const {
  if (seen == 0) return 0;
  unsigned most = HostActivity::kSeen;
  for (std::size_t i = 0; i < shown.size(); ++i) {
    if (static_cast<double>(shown[i]) >= kMostBeats * static_cast<double>(seen))
      most |= kRhythmSigns[i];
  }
  return most;
}

double Rhythm::Cost() const {
  const auto length = static_cast<double>((to - from).count());
  return std::min(1.0, static_cast<double>(excess_ns) / std::max(length, 1.0));
}

std::size_t Rhythm::Grew() const {
  return static_cast<std::size_t>(std::ranges::max_element(grew_ns) - grew_ns.begin());
}

std::string Rhythm::GrewText() const {
  return Grew() == kPhaseCount ? "time outside of all phases"
                               : std::string(ToText(static_cast<Phase>(Grew())));
}

bool Rhythm::IsOwnWork() const {
  const auto grew = [this](Phase phase) { return Grew() == static_cast<std::size_t>(phase); };
  return period <= kLongestOwn && std::ranges::any_of(kOwnWork, grew);
}

std::string Rhythm::Save() const {
  std::vector<std::uint64_t> numbers{std::bit_cast<std::uint64_t>(period)};
  const auto add = [&numbers](std::int64_t number) {
    numbers.push_back(static_cast<std::uint64_t>(number));
  };
  for (const std::int64_t number : {last, beats, missed, ToNanos(from), ToNanos(to), excess_ns}) {
    add(number);
  }
  std::ranges::for_each(grew_ns, add);
  add(seen);
  std::ranges::for_each(shown, add);
  return PackNumbers(numbers);
}

Status Rhythm::Load(std::string_view packed) {
  constexpr std::size_t kNumbers = 8 + kGrowths + std::size(kRhythmSigns);
  constexpr std::size_t kNumbersBefore = kNumbers - kGrowths + kGrowthsBefore;
  const auto numbers = UnpackNumbers(packed, kNumbers);
  if (!numbers.ok()) return numbers.error();
  const bool before = numbers->size() == kNumbersBefore;
  if (!before && numbers->size() != kNumbers) return Invalid("state: a rhythm is cut short");
  auto next = numbers->begin();
  const auto take = [&next] { return static_cast<std::int64_t>(*next++); };
  period = std::bit_cast<double>(*next++);
  last = take(), beats = take(), missed = take();
  from = Time(Duration(take())), to = Time(Duration(take()));
  excess_ns = take();
  grew_ns = {};
  std::generate_n(grew_ns.begin(), before ? kGrowthsBefore : kGrowths, take);
  if (before) std::swap(grew_ns[kGrowthsBefore - 1], grew_ns.back());  // time outside of phases
  seen = take();
  std::ranges::generate(shown, take);
  const bool sound = period >= 1 && period < 1e18 && beats > 0 && last >= 0 && excess_ns >= 0;
  return sound ? Status() : Invalid("state: a rhythm is out of range");
}

// The chain from the newest position back over positions that are as far apart as the newest is
// from `second`.
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
  // The distance by which beats may be off was chosen after the fact, from so many choices.
  const auto choices = static_cast<double>(Tolerance(chain.period) + 1);
  return trials * Divergence(hits, p) >= std::log(choices / chance);
}

// The chain with the most beats among those that chance does not explain; without beats when there
// is none.
Rhythms::Chain Rhythms::Longest(const SlowRun& run, std::int64_t least_repeats) const {
  std::vector<std::int64_t> at;
  for (const SlowRun& each : loose_.all()) {
    const bool alike =
        IsAlike(static_cast<double>(each.excess_ns), static_cast<double>(run.excess_ns));
    if (alike) at.push_back(each.at);
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

// Begins no rhythm when there is no room: the live rhythms are more than anybody wants to read
// about.
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
  const std::int64_t number = next_++;
  Rhythm& rhythm = rhythms_[number];
  rhythm.period = chain.period;
  for (auto beat = chain.beats.rbegin(); beat != chain.beats.rend(); ++beat) {
    Count(number, rhythm, loose_.At(*beat));
    loose_.Remove(*beat);
  }
  rhythm.missed = chain.trials + 2 - rhythm.beats;
  return &rhythm;
}

void Rhythms::Count(std::int64_t number, Rhythm& rhythm, const SlowRun& run) {
  rhythm.Count(run);
  if (run.signs == SlowRun::kUntold) {
    untold_[run.at] = number;
  } else {
    rhythm.Tell(run.signs);
  }
}

const Rhythm* Rhythms::Add(const SlowRun& run, std::int64_t least_repeats) {
  ++seen_;
  for (auto& [number, rhythm] : rhythms_) {
    if (rhythm.IsOver(run.at) || !rhythm.Take(run)) continue;
    Count(number, rhythm, run);
    return &rhythm;
  }
  loose_.Add(run);
  const Chain chain = Longest(run, least_repeats);
  return chain.beats.empty() ? nullptr : Begin(chain);
}

void Rhythms::Tell(std::int64_t at, unsigned signs) {
  if (SlowRun* run = loose_.Find(at)) run->signs = signs;
  const auto beat = untold_.find(at);
  if (beat == untold_.end()) return;
  const auto rhythm = rhythms_.find(beat->second);
  if (rhythm != rhythms_.end()) rhythm->second.Tell(signs);
  untold_.erase(beat);
}

}  // namespace stepscope
