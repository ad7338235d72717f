#include "server/trace/replay/replay.h"

#include <algorithm>
#include <map>
#include <set>

#include "server/trace/host_waits.h"
#include "server/trace/intervals.h"

namespace stepscope {
namespace {

constexpr std::int64_t kExpectedWithinNs = 10'000;  // after the end of another stream's work
constexpr std::int64_t kClocksNs = 2'000;           // by which the clocks of host and device differ
constexpr std::size_t kMostTracks = 4;              // threads of the host with waits
constexpr int kMostLookedAt = 64;                   // work, for each call that synchronizes
// CUDA holds 1,024 launches; a launch that finds no room waits until the device has begun another.
constexpr std::ptrdiff_t kFullQueue = 1'000;
constexpr std::int64_t kLongLaunchNs = 20'000;

}  // namespace

Replay::Replay(const TraceLinks& links) : trace_(links.trace()) {
  std::size_t work = 0;
  for (const auto& device : links.devices()) work += device.spans.size();
  if (work == 0 || work > kMostReplayedWork) return;
  CollectWork(links);
  LinkWork();
  CollectWaits(links);
}

void Replay::CollectWork(const TraceLinks& links) {
  for (const auto& device : links.devices()) {
    for (const std::uint32_t span : device.spans) {
      const TraceSpan& of = trace_.spans[span];
      const std::uint32_t launch = links.LaunchOf(of);
      const std::int64_t at = launch == kNone ? -1 : trace_.spans[launch].start_ns;
      work_.push_back(
          {.span = span, .start_ns = of.start_ns, .end_ns = of.end_ns(), .launch_ns = at});
    }
  }
  std::ranges::stable_sort(work_, {}, &Work::start_ns);
  by_end_.resize(work_.size());
  launch_delay_ns_ = INT64_MAX;
  std::set<std::int32_t> steps;
  std::int64_t begin = INT64_MAX, end = 0;
  for (std::uint32_t i = 0; i < work_.size(); ++i) {
    const Work& work = work_[i];
    by_end_[i] = i;
    if (work.launch_ns >= 0) {
      launch_delay_ns_ = std::min(launch_delay_ns_, work.start_ns - work.launch_ns);
    }
    const TraceSpan& span = trace_.spans[work.span];
    if (span.kind == SpanKind::kCopy) copies_.emplace(span.correlation, i);
    if (span.step == kNoStep) continue;
    steps.insert(span.step);
    begin = std::min(begin, work.start_ns);
    end = std::max(end, work.end_ns);
  }
  launch_delay_ns_ =
      launch_delay_ns_ == INT64_MAX ? 0 : std::max<std::int64_t>(launch_delay_ns_, 0);
  std::ranges::stable_sort(by_end_, {}, [this](std::uint32_t i) { return work_[i].end_ns; });
  steps_ = steps.size();
  recorded_ns_ = steps_ == 0 ? 0 : end - begin;
}

// When work could have begun for its launch, and for the work before it in its stream. Neither is
// after it began, whatever the clocks say.
std::int64_t Replay::LaunchedAt(const Work& work) const {
  return std::min(work.launch_ns + launch_delay_ns_, work.start_ns);
}
std::int64_t Replay::AfterBefore(const Work& work) const {
  return std::min(work_[work.before].end_ns, work.start_ns);
}

void Replay::LinkWork() {
  std::map<std::uint16_t, std::uint32_t> last;  // of each stream
  std::uint32_t seen = 0;
  for (std::uint32_t i = 0; i < work_.size(); ++i) {
    Work& work = work_[i];
    // Work that stands behind this one cannot have been seen, even where it took no time.
    while (seen < i && by_end_[seen] < i && work_[by_end_[seen]].end_ns <= work.start_ns) ++seen;
    work.seen = seen;
    const std::uint16_t track = trace_.spans[work.span].track;
    const auto [before, first] = last.emplace(track, i);
    if (!first) work.before = before->second, before->second = i;
    std::int64_t known = work.launch_ns < 0 ? -1 : LaunchedAt(work);
    if (work.before != kNone) known = std::max(known, AfterBefore(work));
    if (seen == 0 || work.start_ns - known <= kExpectedWithinNs) continue;
    const Work& latest = work_[by_end_[seen - 1]];
    const bool elsewhere = trace_.spans[latest.span].track != track;
    const bool at_once = work.start_ns - latest.end_ns <= kExpectedWithinNs;
    if (elsewhere && at_once) work.other = by_end_[seen - 1];
  }
}

// The work that a call waited for: of a copy its own, of a call that synchronizes the last that
// ended while it lasted and was launched before.
std::uint32_t Replay::WorkOfWait(const TraceLinks& links, const TraceSpan& call) const {
  const auto waited_for = [&](std::uint32_t i) {
    const Work& work = work_[i];
    return work.end_ns > call.start_ns && work.end_ns <= call.end_ns() + kClocksNs &&
           work.start_ns < call.end_ns();
  };
  if (!IsSyncCall(links.trace().NameOf(call))) {
    const auto own = copies_.find(call.correlation);
    const bool found = call.correlation != 0 && own != copies_.end() && waited_for(own->second);
    return found ? own->second : kNone;
  }
  auto at = std::ranges::upper_bound(by_end_, call.end_ns() + kClocksNs, {},
                                     [this](std::uint32_t i) { return work_[i].end_ns; });
  for (int looked_at = 0; at != by_end_.begin() && looked_at < kMostLookedAt; ++looked_at) {
    const std::uint32_t i = *--at;
    if (work_[i].end_ns <= call.start_ns) return kNone;
    if (waited_for(i) && work_[i].launch_ns <= call.start_ns) return i;
  }
  return kNone;
}

Replay::Queue Replay::CollectQueue(const TraceLinks& links) const {
  Queue queue;
  std::set<std::uint32_t> seen;
  for (const Work& work : work_) {
    const std::uint32_t launch = links.LaunchOf(trace_.spans[work.span]);
    if (launch == kNone || !seen.insert(launch).second) continue;
    queue.launched_ns.push_back(work.launch_ns);
    queue.begun_ns.push_back(work.start_ns);
  }
  std::ranges::sort(queue.launched_ns);
  return queue;
}

std::uint32_t Replay::WorkThatMadeRoom(const Queue& queue, const TraceSpan& call) const {
  if (call.duration_ns < kLongLaunchNs) return kNone;
  const auto until = [&](const std::vector<std::int64_t>& times) {
    return std::ranges::upper_bound(times, call.start_ns) - times.begin();
  };
  if (until(queue.launched_ns) - until(queue.begun_ns) < kFullQueue) return kNone;
  const auto behind = std::ranges::lower_bound(work_, call.end_ns(), {}, &Work::start_ns);
  if (behind == work_.begin() || std::prev(behind)->start_ns <= call.start_ns) return kNone;
  return static_cast<std::uint32_t>(behind - work_.begin() - 1);
}

void Replay::AddWaits(const TraceLinks& links, const Queue& queue, std::uint16_t track) {
  std::vector<TimeRange> operators;
  const std::size_t first = waits_.size();
  for (const TraceSpan& span : trace_.spans) {
    if (span.track != track) {
      if (span.kind == SpanKind::kOperator) operators.push_back({span.start_ns, span.end_ns()});
      continue;
    }
    const bool data = WaitsForData(links.trace(), span);
    Wait wait{.begin_ns = span.start_ns, .end_ns = span.end_ns()};
    if (span.kind == SpanKind::kLaunch) {
      wait.work = WorkOfWait(links, span);
      wait.for_begin = wait.work == kNone;
      if (wait.for_begin) wait.work = WorkThatMadeRoom(queue, span);
    }
    if (data || wait.work != kNone) waits_.push_back(wait);
  }
  if (waits_.size() == first) return;
  const TimeRanges busy = UnionOf(std::move(operators));
  for (std::size_t i = first; i < waits_.size(); ++i) {
    waits_[i].others_ns = LengthWithin(busy, {waits_[i].begin_ns, waits_[i].end_ns});
  }
}

void Replay::CollectWaits(const TraceLinks& links) {
  std::map<std::uint16_t, std::size_t> launches;
  for (const TraceSpan& span : trace_.spans) {
    if (span.kind == SpanKind::kLaunch) ++launches[span.track];
  }
  std::vector<std::pair<std::size_t, std::uint16_t>> most;
  for (const auto& [track, count] : launches) most.emplace_back(count, track);
  std::ranges::sort(most, std::greater());
  if (most.size() > kMostTracks) most.resize(kMostTracks);
  const Queue queue = CollectQueue(links);
  for (const auto& [count, track] : most) AddWaits(links, queue, track);
  std::ranges::sort(waits_, [](const Wait& one, const Wait& other) {
    return std::pair(one.begin_ns, -one.end_ns) < std::pair(other.begin_ns, -other.end_ns);
  });
  std::int64_t until = INT64_MIN;
  std::erase_if(waits_, [&](const Wait& wait) {
    if (wait.begin_ns < until) return true;
    until = wait.end_ns;
    return false;
  });
}

}  // namespace stepscope
