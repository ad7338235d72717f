#include "agent/marks/marks_fold.h"

#include <algorithm>
#include <utility>

namespace stepscope {
namespace {

constexpr Duration kYear2000 = std::chrono::seconds(946'684'800);
constexpr Duration kYear2100 = std::chrono::seconds(4'102'444'800);
// Bounds the spans side by side in a step; beyond it an older span counts twice when another one
// encloses it.
constexpr std::size_t kMostSpans = 4096;

// A bound that keeps endless sums of a faulty process far from overflow.
constexpr Duration kLongest{std::int64_t{1} << 60};

Duration Sum(Duration one, Duration other) {
  return std::min(one + other, kLongest);
}

std::uint64_t EndOf(const Mark& mark) {
  return mark.start_ns + static_cast<std::uint64_t>(mark.duration.count());
}

}  // namespace

void AnnotationSums::Add(Time start, Duration duration) {
  Add(AnnotationSums{start, start + duration, 1, duration, duration, duration});
}

void AnnotationSums::Add(const AnnotationSums& other) {
  if (count == 0) {
    *this = other;
    return;
  }
  from = std::min(from, other.from);
  to = std::max(to, other.to);
  count += other.count;
  sum = Sum(sum, other.sum);
  least = std::min(least, other.least);
  most = std::max(most, other.most);
}

std::optional<Time> WallTime(const Mark& mark, Duration clock_base) {
  std::int64_t at = 0;
  if (__builtin_add_overflow(mark.start_ns, clock_base.count(), &at)) return std::nullopt;
  if (Duration(at) < kYear2000 || Duration(at) > kYear2100) return std::nullopt;
  return Time(Duration(at));
}

void StepFold::AddPhase(const Mark& mark) {
  const std::uint64_t start = std::max(mark.start_ns, boundary_ns_);
  const std::uint64_t end = EndOf(mark);
  if (mark.name >= kPhaseCount || end < start) return;
  const Duration length{std::min<std::uint64_t>(end - start, mark.duration.count())};
  const Duration inside = TakeInside(start);
  any_phase_ = true;
  Duration& phase = phases_[mark.name];
  phase = Sum(phase, std::max(length - inside, Duration(0)));
  if (seen_.size() >= kMostSpans) seen_.clear();
  seen_.push_back({start, length});
}

void StepFold::AddEvaluation(Duration length) {
  evaluation_ = Sum(evaluation_, length);
}

Duration StepFold::TakeInside(std::uint64_t start_ns) {
  Duration inside{};
  for (; !seen_.empty() && seen_.back().start_ns >= start_ns; seen_.pop_back()) {
    inside = Sum(inside, seen_.back().length);
  }
  return inside;
}

const Step* StepFold::End(const Mark& mark, Duration clock_base) {
  const bool cut = std::exchange(cut_, false);
  // A process may end a hundred thousand steps a second: without phases there is nothing to clear.
  const bool had_phases = std::exchange(any_phase_, false);
  if (had_phases || ended_has_phases_) ended_.phases = std::exchange(phases_, {});
  ended_has_phases_ = had_phases;
  ended_.evaluation = std::exchange(evaluation_, {});
  seen_.clear();
  boundary_ns_ = EndOf(mark);
  const std::optional<Time> start = WallTime(mark, clock_base);
  if (cut || mark.clamped || !start) {
    ++lost_;
    return nullptr;
  }
  ended_.number = static_cast<std::int64_t>(mark.step);
  ended_.start = *start;
  ended_.wall = mark.duration;
  if (had_phases) Fit();
  return &ended_;
}

void StepFold::Fit() {
  Duration left = ended_.wall;
  for (Duration& phase : ended_.phases) {
    phase = std::min(phase, left);
    left -= phase;
  }
}

}  // namespace stepscope
