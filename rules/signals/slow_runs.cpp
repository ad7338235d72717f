#include "rules/signals/slow_runs.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <limits>

#include "rules/engine/packing.h"

namespace stepscope {
namespace {

constexpr unsigned kSlowRunSigns = 2 * SlowRun::kUntold;
constexpr int kBits = 10;  // bits that are kept of an excess

std::uint64_t Unsigned(std::int64_t number) {
  return static_cast<std::uint64_t>(number);
}

int ShiftOf(std::int64_t excess_ns) {
  return std::max(0, static_cast<int>(std::bit_width(Unsigned(excess_ns))) - kBits);
}

// The leading bits of the excess, their shift, and the small members of a run, packed into one
// number.
std::uint64_t Packed(const SlowRun& run) {
  const int shift = ShiftOf(run.excess_ns);
  const std::uint64_t excess =
      Unsigned(shift) << kBits | Unsigned(run.excess_ns) >> static_cast<unsigned>(shift);
  return (excess * kGrowths + run.grew) * kSlowRunSigns + run.signs;
}

// Returns false for a number that Packed never makes. `growths` is the kGrowths of who made it.
bool Unpack(std::uint64_t packed, std::size_t growths, SlowRun& run) {
  run.signs = static_cast<unsigned>(packed % kSlowRunSigns);
  run.grew = packed / kSlowRunSigns % growths;
  if (run.grew == growths - 1) run.grew = kPhaseCount;
  const std::uint64_t excess = packed / kSlowRunSigns / growths, shift = excess >> kBits;
  if (shift > 63 - kBits) return false;
  run.excess_ns = static_cast<std::int64_t>((excess & ((1U << kBits) - 1)) << shift);
  return true;
}

std::int64_t Millis(Time time) {
  return time.time_since_epoch() / 1ms;
}

}  // namespace

void SlowRuns::Add(SlowRun run) {
  run.from = Time(std::chrono::milliseconds(Millis(run.from)));
  const auto shift = static_cast<unsigned>(ShiftOf(run.excess_ns));
  run.excess_ns = run.excess_ns >> shift << shift;
  runs_.push_back(run);
  if (runs_.size() > kMost) runs_.erase(runs_.begin());
}

SlowRun* SlowRuns::Find(std::int64_t at) {
  const auto found = std::ranges::lower_bound(runs_, at, {}, &SlowRun::at);
  return found == runs_.end() || found->at != at ? nullptr : &*found;
}

const SlowRun& SlowRuns::At(std::int64_t at) const {
  const auto found = std::ranges::lower_bound(runs_, at, {}, &SlowRun::at);
  assert(found != runs_.end() && found->at == at);
  return *found;
}

void SlowRuns::Remove(std::int64_t at) {
  runs_.erase(std::ranges::lower_bound(runs_, at, {}, &SlowRun::at));
}

// Saves the number of growths, then position and time as distances from the run before.
std::string SlowRuns::Save() const {
  std::vector<std::uint64_t> numbers{kGrowths};
  SlowRun before;
  for (const SlowRun& run : runs_) {
    numbers.push_back(Unsigned(run.at - before.at));
    numbers.push_back(Unsigned(Millis(run.from) - Millis(before.from)));
    numbers.push_back(Packed(run));
    before = run;
  }
  return PackNumbers(numbers);
}

Status SlowRuns::Load(std::string_view packed) {
  constexpr std::size_t kNumbers = 3;
  constexpr std::int64_t kMostMillis = std::numeric_limits<std::int64_t>::max() / 1'000'000;
  const auto numbers = UnpackNumbers(packed, 1 + kNumbers * kMost);
  if (!numbers.ok()) return numbers.error();
  const std::size_t first = numbers->size() % kNumbers;
  if (first > 1 || (first == 1 && numbers->front() != kGrowths)) {
    return Invalid("state: slow steps are no rows");
  }
  const std::size_t growths = first == 0 ? kGrowthsBefore : kGrowths;
  runs_.clear();
  std::uint64_t at = 0, from = 0;
  for (std::size_t i = first; i < numbers->size(); i += kNumbers) {
    const std::uint64_t before = at;
    SlowRun run;
    run.at = static_cast<std::int64_t>(at += (*numbers)[i]);
    const auto millis = static_cast<std::int64_t>(from += (*numbers)[i + 1]);
    const bool in_order = run.at >= 0 && (i == first || at > before);
    if (!in_order || millis > kMostMillis || millis < -kMostMillis ||
        !Unpack((*numbers)[i + 2], growths, run)) {
      return Invalid("state: slow steps are out of range");
    }
    run.from = run.to = Time(std::chrono::milliseconds(millis));
    runs_.push_back(run);
  }
  return {};
}

}  // namespace stepscope
