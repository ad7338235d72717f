#include "agent/app/job/spool_drain.h"

#include <algorithm>
#include <utility>

#include "agent/traces/old_traces.h"
#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr Duration kLongestAwait = 3s;
constexpr Duration kLongestWait = 1h;

}  // namespace

SpoolDrain::SpoolDrain(SpoolFolder* folder, const UplinkOptions& uplink, const Clock& clock)
    : folder_(folder), service_(uplink.server), clock_(clock) {
  auto made = Uplink::Make(uplink), made_for_traces = MakeTraceUplink(uplink);
  if (folder == nullptr || !made || !made_for_traces) {
    state_.Change([](State& state) { state.scanned = true; });
    return;
  }
  uplink_ = std::move(*made);
  traces_uplink_ = std::move(*made_for_traces);
  worker_ = Worker("drain", [this](std::stop_token stop) { Run(std::move(stop)); });
}

SpoolDrain::~SpoolDrain() {
  worker_.RequestStop();
  for (const auto& uplink : {uplink_.get(), traces_uplink_.get()}) {
    if (uplink != nullptr) uplink->Stop();
  }
}

void SpoolDrain::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    DeliverAll(stop);
    state_.Wait(stop, kLongestWait, [](const State& state) { return state.rescan; });
  }
}

void SpoolDrain::DeliverAll(const std::stop_token& stop) {
  const bool rescan =
      state_.Change([](State& state) { return std::exchange(state.rescan, false); });
  if (!rescan) return;
  OldSessions sessions(
      *folder_, service_, [this](std::string body) { return uplink_->Post(std::move(body)); },
      clock_);
  Note(sessions);
  while (!sessions.empty() && !stop.stop_requested()) {
    const Duration wait = sessions.Step();
    Note(sessions);
    if (!SleepFor(stop, wait)) return;
  }
  SendTraces(stop);
}

// Another search interrupts it, since samples go first.
void SpoolDrain::SendTraces(const std::stop_token& stop) {
  OldTraces traces(*folder_, service_);
  const auto rescan = [](const State& state) { return state.rescan; };
  while (!traces.empty() && !stop.stop_requested()) {
    if (state_.Wait(stop, traces.Step(*traces_uplink_), rescan)) return;
  }
}

void SpoolDrain::Note(const OldSessions& sessions) {
  state_.Change([&](State& state) {
    state.scanned = !state.rescan;
    state.unknown = sessions.UnknownJobs();
  });
}

void SpoolDrain::AwaitKnown(const std::string& job) const {
  state_.Wait({}, kLongestAwait, [&](const State& state) {
    return state.scanned && std::ranges::find(state.unknown, job) == state.unknown.end();
  });
}

void SpoolDrain::Rescan() {
  if (!uplink_) return;
  state_.Change([](State& state) {
    state.rescan = true;
    state.scanned = false;
  });
}

}  // namespace stepscope
