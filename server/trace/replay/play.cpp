// A run of a replay.

#include <algorithm>
#include <cmath>

#include "server/trace/replay/replay.h"

namespace stepscope {
namespace {

std::int64_t Scaled(std::int64_t ns, double left) {
  return left == 1 ? ns : std::llround(double(ns) * left);
}

}  // namespace

// One run: everything in the order in which it began in the recording, which no change turns round
// for what waits for each other.
class Replay::Player {
 public:
  Player(const Replay& replay, const ReplayChange& change, StreamWaits waits)
      : replay_(replay),
        change_(change),
        seen_(waits == StreamWaits::kSeen),
        starts_(replay.work_.size()),
        ends_(replay.work_.size()) {
    clock_.push_back({0, 0, change.host});
  }

  std::int64_t Play() {
    std::int64_t begin = INT64_MAX, end = INT64_MIN;
    for (std::uint32_t i = 0; i < replay_.work_.size(); ++i) {
      const Work& work = replay_.work_[i];
      AdvanceHost(work.start_ns);
      See(work.seen);
      starts_[i] = StartOf(work);
      ends_[i] = starts_[i] + Scaled(work.end_ns - work.start_ns, LeftOf(work));
      if (replay_.trace_.spans[work.span].step == kNoStep) continue;
      begin = std::min(begin, starts_[i]);
      end = std::max(end, ends_[i]);
    }
    return end - begin;
  }

 private:
  // From here on the host's time goes by at this pace.
  struct Point {
    std::int64_t seen_ns = 0, now_ns = 0;
    double pace = 1;
  };

  std::int64_t HostAt(std::int64_t seen_ns) const {
    auto at = std::ranges::upper_bound(clock_, seen_ns, {}, &Point::seen_ns);
    if (at != clock_.begin()) --at;
    return at->now_ns + Scaled(seen_ns - at->seen_ns, at->pace);
  }

  void See(std::uint32_t seen) {
    for (; seen_work_ < seen; ++seen_work_) {
      const std::uint32_t i = replay_.by_end_[seen_work_];
      last_end_was_ns_ = std::max(last_end_was_ns_, replay_.work_[i].end_ns);
      last_end_ns_ = std::max(last_end_ns_, ends_[i]);
    }
  }

  void AdvanceHost(std::int64_t until_ns) {
    for (; wait_ < replay_.waits_.size(); ++wait_) {
      const Wait& wait = replay_.waits_[wait_];
      if (wait.begin_ns > until_ns) return;
      if (!waiting_) BeginWait(wait);
      if (wait.end_ns > until_ns) return;
      EndWait(wait);
    }
  }

  void BeginWait(const Wait& wait) {
    const double length = double(std::max<std::int64_t>(wait.end_ns - wait.begin_ns, 1));
    const double least = double(wait.others_ns) / length;
    const double pace = wait.work == kNone ? std::max(change_.data, std::min(least, 1.0)) : 1;
    clock_.push_back({wait.begin_ns, HostAt(wait.begin_ns), pace});
    waiting_ = true;
  }

  void EndWait(const Wait& wait) {
    const std::int64_t begin = clock_.back().now_ns;
    std::int64_t end = HostAt(wait.end_ns);
    if (wait.work != kNone) {
      const Work& work = replay_.work_[wait.work];
      std::int64_t was = wait.for_begin ? work.start_ns : work.end_ns;
      std::int64_t is = wait.for_begin ? starts_[wait.work] : ends_[wait.work];
      if (seen_) was = std::max(was, last_end_was_ns_), is = std::max(is, last_end_ns_);
      const std::int64_t tail = wait.end_ns - was;
      const bool without = change_.without_syncs && !wait.for_begin;
      end = without ? begin + std::max<std::int64_t>(tail, 0) : is + tail;
      end = std::max(end, begin + std::min(wait.others_ns, wait.end_ns - wait.begin_ns));
    }
    clock_.push_back({wait.end_ns, std::max(begin, end), change_.host});
    waiting_ = false;
  }

  std::int64_t StartOf(const Work& work) const {
    std::int64_t was = INT64_MIN, is = INT64_MIN;  // the last of what it waited for
    if (work.launch_ns >= 0) {
      was = replay_.LaunchedAt(work);
      if (!change_.without_launches) is = HostAt(work.launch_ns) + was - work.launch_ns;
    }
    if (work.before != kNone) {
      const std::int64_t seen = replay_.AfterBefore(work);
      was = std::max(was, seen);
      const std::int64_t now = ends_[work.before] + seen - replay_.work_[work.before].end_ns;
      is = std::max({is, now, starts_[work.before]});
    }
    if (seen_ && work.seen > 0) {
      was = std::max(was, last_end_was_ns_);
      is = std::max(is, last_end_ns_);
    } else if (!seen_ && work.other != kNone) {
      was = std::max(was, replay_.work_[work.other].end_ns);
      is = std::max(is, ends_[work.other]);
    }
    if (is == INT64_MIN && change_.without_launches) return replay_.work_.front().start_ns;
    if (was == INT64_MIN) return HostAt(work.start_ns);
    return is + work.start_ns - was;
  }

  double LeftOf(const Work& work) const {
    const TraceSpan& span = replay_.trace_.spans[work.span];
    if (change_.kernel != 0 && span.name == change_.kernel) return change_.kernel_left;
    if (span.kind == SpanKind::kKernel) return change_.computing;
    return span.kind == SpanKind::kCommunication ? change_.communication : change_.copies;
  }

  const Replay& replay_;
  const ReplayChange& change_;
  const bool seen_;
  std::vector<std::int64_t> starts_, ends_;
  std::uint32_t seen_work_ = 0;
  std::int64_t last_end_was_ns_ = INT64_MIN, last_end_ns_ = INT64_MIN;  // recorded, and now
  std::vector<Point> clock_;
  std::size_t wait_ = 0;
  bool waiting_ = false;
};

std::int64_t Replay::Run(const ReplayChange& change, StreamWaits waits) const {
  if (steps_ == 0) return 0;
  return std::min(Player(*this, change, waits).Play(), recorded_ns_);
}

}  // namespace stepscope
