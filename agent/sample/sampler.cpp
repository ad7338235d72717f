#include "agent/sample/sampler.h"

#include <algorithm>

#include "agent/collect/retried_collector.h"
#include "core/base/log.h"

namespace stepscope {
namespace {

constexpr Duration kLasts = 5s;

}  // namespace

Sampler::Sampler(const std::string& root, const Clock& clock) : clock_(clock) {
  for (const CollectorKind& kind : CollectorTable()) {
    auto collector = kind.make(root, row_);
    if (kind.may_come) {
      running_.push_back({kind.name, RetryCollector(kind, root, std::move(collector))});
    } else if (collector) {
      running_.push_back({kind.name, std::move(*collector)});
    } else {
      absent_.push_back({std::string(kind.name), collector.error().message});
    }
  }
  Sample();
}

const TickRow& Sampler::Sample() {
  row_.Clear();
  const SteadyTime begun = clock_.Steady();
  for (Running& running : running_) running.collector->Begin(begun);
  for (Running& running : running_) {
    // Each source is read at its own time, and its rates are over exactly that time.
    Note(running, running.collector->Collect(clock_.Steady(), row_));
  }
  return row_;
}

std::vector<AbsentSource> Sampler::Absent() const {
  std::vector<AbsentSource> absent = absent_;
  for (const Running& running : running_) {
    std::string reason = running.collector->Shortfall();
    if (reason.empty()) reason = FailureOf(running.name);
    if (!reason.empty()) absent.push_back({std::string(running.name), std::move(reason)});
  }
  return absent;
}

// A source that failed and works again has no failure.
std::string Sampler::FailureOf(std::string_view source) const {
  const SteadyTime now = clock_.Steady();
  return failures_.Read([&](const std::vector<Failure>& all) {
    const auto found = std::ranges::find(all, source, &Failure::source);
    const bool lasts = found != all.end() && now - found->since >= kLasts;
    return lasts ? found->reason : std::string();
  });
}

std::vector<GpuFacts> Sampler::Gpus() const {
  std::vector<GpuFacts> gpus;
  for (const Running& running : running_) {
    for (GpuFacts& gpu : running.collector->Gpus()) gpus.push_back(std::move(gpu));
  }
  return gpus;
}

bool Sampler::Starting() const {
  return std::ranges::any_of(running_, [](const auto& one) { return one.collector->Starting(); });
}

void Sampler::Note(Running& running, const Status& status) {
  if (running.failing == !status.ok()) return;
  running.failing = !status.ok();
  if (running.failing) {
    LogWarning("no {} samples for now: {}", running.name, status.error().message);
    Failure failure{running.name, clock_.Steady(), status.error().message};
    failures_.Change([&](auto& all) { all.push_back(std::move(failure)); });
  } else {
    failures_.Change([&](auto& all) {
      std::erase_if(all, [&](const Failure& one) { return one.source == running.name; });
    });
    LogInfo("{} samples again", running.name);
  }
}

Time NextTick(Time now, Duration interval) {
  const Duration since_epoch = now.time_since_epoch();
  return Time((since_epoch / interval + 1) * interval);
}

}  // namespace stepscope
