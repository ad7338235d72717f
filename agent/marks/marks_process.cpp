#include "agent/marks/marks_process.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <utility>

#include "core/base/text.h"
#include "core/model/span_bins.h"

namespace stepscope {
namespace {

constexpr std::size_t kMetricBytes = 80;   // a metric takes them, with or without a name
constexpr std::size_t kLeastAtOnce = 256;  // marks of a ring, where there is room for as many

// Clamps instead of overflowing: a faulty process may send any number.
Duration Moved(Duration base, Duration by) {
  return Duration(static_cast<std::int64_t>(static_cast<std::uint64_t>(base.count()) +
                                            static_cast<std::uint64_t>(by.count())));
}

// The annotation that the hooks make of an evaluation.
constexpr std::string_view kEvaluation = "evaluation";

// Gives the rank the steps of a ring, whose address identifies it.
template <typename Ring>
HeldSteps::Take AddTo(RankRecord& rank, const Ring& ring) {
  return [&rank, &ring](const Step& step, std::uint64_t start_ns) {
    rank.AddStep({&ring, ring.pid}, step, start_ns);
  };
}

}  // namespace

void MarkProcess::TakeMark(const Mark& mark, Ring& ring, RankRecord& rank, MarkRoom& room) {
  if (mark.after_loss) ring.fold.Cut();
  switch (mark.kind) {
    case MarkKind::kStep:
      if (const Step* const step = ring.fold.End(mark, ring.clock_base)) {
        ring.held.Add(*step, mark.start_ns, AddTo(rank, ring));
      }
      return;
    case MarkKind::kPhase:
      ring.fold.AddPhase(mark);
      return;
    case MarkKind::kAnnotation:
      return TakeAnnotation(mark, ring, rank, room);
    case MarkKind::kMetric:
      return TakeMetric(mark, ring, room);
    case MarkKind::kGpuTime:
      return ring.held.AddGpuTime(mark);
  }
  ++source_.refused;
}

void MarkProcess::TakeAnnotation(const Mark& mark, Ring& ring, RankRecord& rank, MarkRoom& room) {
  const auto start = WallTime(mark, ring.clock_base);
  if (!start || mark.name >= kMaxMarkNames) {
    ++source_.refused;
    return;
  }
  if (NameOf(mark.name) == kEvaluation) ring.fold.AddEvaluation(mark.duration);
  const std::pair<std::uint16_t, int> key(mark.name, SpanBinOf(mark.duration.count()));
  auto sums = annotations_.find(key);
  if (sums == annotations_.end()) {
    if (!MarkRoom::Take(room.sums)) {
      ++no_room_;
      return;
    }
    sums = annotations_.try_emplace(key).first;
  }
  sums->second.Add(*start, mark.duration);
  if (!rank.spans().Wanted()) return;
  if (spans_.size() >= Intake::kMostWindowSpans) return rank.spans().Lose(1);
  spans_.push_back({mark.name,
                    {mark.start_ns, mark.duration.count(), start->time_since_epoch().count(),
                     source_.pid, ring.thread}});
}

void MarkProcess::TakeMetric(const Mark& mark, const Ring& ring, MarkRoom& room) {
  const auto at = WallTime(mark, ring.clock_base);
  const auto value = std::bit_cast<double>(mark.value);
  if (!at || !std::isfinite(value) || mark.name == 0 || mark.name >= kMaxMarkNames) {
    ++source_.refused;
    return;
  }
  if (!metrics_.contains(mark.name)) {
    if (!MarkRoom::Take(room.bytes, kMetricBytes)) {
      ++no_room_;
      return;
    }
    bytes_ += kMetricBytes;
  }
  auto& newest = metrics_[mark.name];
  if (!newest) newest.emplace();
  newest->Keep({*at, value});
}

// A ring takes half of the room that is left, so that one that is always full leaves some to
// the user's others.
void MarkProcess::ReadRing(Ring& ring, RankRecord& rank, MarkRoom& room) {
  const std::size_t most = std::min(room.marks, std::max(room.marks / 2, kLeastAtOnce));
  const std::size_t held = ring.held.size();
  ring.held.Limit(held + room.held_steps);
  const auto take = [&](const Mark& mark) { TakeMark(mark, ring, rank, room); };
  room.marks -= ring.reader.Read(std::ref(take), most);  // a copy of it would be allocated
  room.held_steps += held;
  room.held_steps -= std::min(room.held_steps, ring.held.size());
  ring.held.EndRound(AddTo(rank, ring));
}

void MarkProcess::ReadRings(RankRecord& rank, MarkRoom& room) {
  const Duration offset = offset_.Read();
  for (const auto& ring : rings_) {
    ring->clock_base = Moved(ring->reader.clock_base(), offset - ring->offset);
    ReadRing(*ring, rank, room);
  }
  HandOver(rank, false, room);
  const std::int64_t dropped_before = source_.dropped;
  Count();
  rank.spans().Lose(source_.dropped - dropped_before);
}

void MarkProcess::SkipMarks() {
  for (const auto& ring : rings_) ring->reader.Skip();
  Count();
}

// A name's message may come later than its marks.
void MarkProcess::HandOver(RankRecord& rank, bool all, MarkRoom& room) {
  std::erase_if(annotations_, [&](const auto& entry) {
    const std::uint16_t id = entry.first.first;
    const std::string& name = NameOf(id);
    const bool known = id == 0 || !name.empty();
    if (known || all) rank.AddAnnotation(name, entry.second);
    return known || all;
  });
  if (!rank.spans().open()) spans_.clear();
  std::erase_if(spans_, [&](const NamedSpan& each) {
    const std::string& name = NameOf(each.name);
    const bool known = each.name == 0 || !name.empty();
    if (known || all) rank.spans().AddSpan(name, each.span);
    return known || all;
  });
  for (auto& [id, newest] : metrics_) {
    const std::string& name = NameOf(id);
    if (!newest || name.empty()) continue;
    if (!rank.SetMetric(name, *newest, room)) ++source_.refused;
    newest.reset();
  }
}

void MarkProcess::Count() {
  source_.dropped = no_room_;
  source_.cut = 0;
  for (const auto& ring : rings_) {
    source_.dropped += static_cast<std::int64_t>(ring->reader.dropped());
    source_.cut += ring->fold.lost();
  }
}

void MarkProcess::Detach(RankRecord& rank, MarkRoom& room) {
  HandOver(rank, true, room);
  for (const auto& ring : rings_) {
    ring->held.ReleaseAll(AddTo(rank, *ring));
    rank.RingEnded(ring.get());
  }
  rank.ProcessEnded(source_);
}

std::size_t MarkProcess::held_steps() const {
  std::size_t steps = 0;
  for (const auto& ring : rings_) steps += ring->held.size();
  return steps;
}

std::size_t MarkProcess::ring_bytes() const {
  std::size_t bytes = 0;
  for (const auto& ring : rings_) bytes += ring->reader.bytes();
  return bytes;
}

}  // namespace stepscope
