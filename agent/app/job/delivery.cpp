#include "agent/app/job/delivery.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

namespace stepscope {
namespace {

// The pause between pushes of an outage's frames, which leaves the service room for others.
constexpr Duration kCatchUpPause = 250ms;
// Retries at the end are not far apart, because people wait for it.
constexpr Duration kLongestLastRetry = 1s;

}  // namespace

Delivery::Delivery(const DeliveryParts& parts, Duration push_interval)
    : parts_(parts),
      push_interval_(push_interval),
      done_(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      worker_("send", [this](std::stop_token stop) { Run(std::move(stop)); }),
      store_worker_("spool", [this](std::stop_token stop) { Store(std::move(stop)); }) {}

Delivery::~Delivery() = default;

void Delivery::Finish(std::string ended_event) {
  state_.Change([&](State& state) {
    state.finishing = true;
    state.ended_event = std::move(ended_event);
  });
}

bool Delivery::Over() const {
  return state_.Read([](const State& state) { return state.over; });
}

std::string Delivery::Reason() const {
  return state_.Read([](const State& state) { return state.reason; });
}

void Delivery::Stop() {
  worker_.RequestStop();
  store_worker_.RequestStop();
  worker_.Join();
  store_worker_.Join();
}

void Delivery::CutAll() {
  std::lock_guard lock(cutting_);
  parts_.ticks.Cut();
  if (!parts_.drain) return;
  bool more = true;
  while (more) {
    IntakeBatch batch = parts_.drain();
    for (RankTrace& trace : batch.traces) {
      if (parts_.take_trace) parts_.take_trace(std::move(trace));
    }
    parts_.marks.Add(batch);
    parts_.live.Add(batch);
    more = std::ranges::any_of(batch.marks, [](const RankMarks& marks) {
      return marks.steps.size() >= kMaxStepsPerFrame;
    });
  }
}

// False when nothing is left to send, or the service takes nothing more.
bool Delivery::SendDue(bool finishing, SteadyTime now) {
  const bool due = now >= next_send_ || (parts_.sender.forbidden() && parts_.new_token());
  if (!due) return true;
  Duration wait = parts_.sender.Send();
  state_.Change([&](State& state) {
    state.reason = parts_.sender.reason();
    state.over = parts_.sender.over();
  });
  if (wait == Sender::kNothingWaits) return next_send_ = now, false;
  if (finishing && parts_.sender.forbidden()) return false;
  if (wait == 0ns && !finishing) wait = kCatchUpPause;
  if (finishing) wait = std::min(wait, kLongestLastRetry);
  next_send_ = parts_.clock.Steady() + wait;
  return true;
}

void Delivery::Store(std::stop_token stop) {
  while (SleepFor(stop, std::max(push_interval_, parts_.stream.UntilStore()))) {
    if (parts_.stream.away()) CutAll();
    (void)parts_.stream.Store();
  }
}

void Delivery::Run(std::stop_token stop) {
  SteadyTime next_cut = parts_.clock.Steady();
  bool last_cut = false;
  while (!stop.stop_requested()) {
    const bool finishing = state_.Read([](const State& state) { return state.finishing; });
    SteadyTime now = parts_.clock.Steady();
    if (now >= next_cut || (finishing && !last_cut)) {
      CutAll();
      next_cut = std::max(next_cut + push_interval_, now);
    }
    if (finishing && !std::exchange(last_cut, true)) {
      next_send_ = now;
      std::string event = state_.Read([](const State& state) { return state.ended_event; });
      if (!event.empty())
        parts_.stream.Append({.kind = FrameKind::kLifecycle, .payload = std::move(event)});
    }
    const bool more = SendDue(finishing, now);
    if (finishing && !more) break;
    now = parts_.clock.Steady();
    const SteadyTime next = more ? std::min(next_cut, next_send_) : next_cut;
    state_.Wait(stop, std::max<Duration>(next - now, 0ns),
                [&](const State& state) { return state.finishing && !last_cut; });
  }
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = write(done_.get(), &one, sizeof one);
}

}  // namespace stepscope
