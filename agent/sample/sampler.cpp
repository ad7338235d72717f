#include "agent/sample/sampler.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "agent/collect/retried_collector.h"
#include "core/base/cpu_time.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kLasts = 5s;

// What readings cost is measured in one of so many ticks, as measuring costs as much as a cheap
// reading; and in the first two.
constexpr unsigned kMeasureEvery = 16;

// Sources on threads of their own: what they cost the thread of the ticks is little, and a driver
// is told of its part of the budget.
std::vector<ReadingKind> PlannedKinds() {
  std::vector<ReadingKind> kinds;
  for (const CollectorKind& kind : CollectorTable()) {
    if (!kind.may_come) kinds.push_back({.name = kind.name, .least = 0s});
  }
  return kinds;
}

}  // namespace

Sampler::Sampler(const std::string& root, const Clock& clock, double core_share)
    : clock_(clock), core_share_(core_share), plan_(PlannedKinds(), core_share) {
  std::size_t planned = 0;
  for (const CollectorKind& kind : CollectorTable()) {
    auto collector = kind.make(root, row_);
    const auto number = kind.may_come ? std::nullopt : std::optional(planned++);
    if (kind.may_come) {
      running_.push_back({kind.name, RetryCollector(kind, root, std::move(collector))});
    } else if (collector) {
      running_.push_back({kind.name, std::move(*collector), false, number});
    } else {
      absent_.push_back({std::string(kind.name), collector.error().message});
    }
  }
  ShareBudget();
  Sample();
}

// GPUs may come later, with series of their own.
void Sampler::ShareBudget() {
  plan_.SetShare(Gpus().empty() ? core_share_ : core_share_ / 2);
  for (Running& running : running_) running.collector->KeepWithin(core_share_ / 2);
}

const TickRow& Sampler::Sample() {
  row_.Clear();
  const SteadyTime begun = clock_.Steady();
  for (Running& running : running_) running.collector->Begin(begun);
  plan_.Begin(begun);
  for (Running& running : running_) {
    if (Due(running)) Note(running, Collect(running));
  }
  ++ticks_;
  if (std::exchange(series_, row_.size()) != row_.size()) ShareBudget();
  if (std::exchange(changes_, plan_.changes()) != plan_.changes())
    slowed_.Change([this](auto& slowed) { slowed = plan_.Slowed(); });
  return row_;
}

bool Sampler::Due(const Running& running) {
  return !running.planned || plan_.Due(*running.planned);
}

// Each source is read at its own time, and its rates are over exactly that time.
Status Sampler::Collect(Running& running) {
  const bool measured =
      running.planned && (running.averaged || ticks_ < 2 || ticks_ % kMeasureEvery == 0);
  const Duration before = measured ? ThreadCpuTime() : Duration();
  Status collected = running.collector->Collect(clock_.Steady(), row_);
  if (measured) Spend(running, ThreadCpuTime() - before);
  return collected;
}

void Sampler::Spend(Running& running, Duration cpu) {
  if (!running.averaged) return plan_.Spend(*running.planned, cpu);
  running.spent += cpu;
  ++running.readings;
  if (ticks_ - running.told_at < kMeasureEvery) return;
  running.told_at = ticks_;
  plan_.Spend(*running.planned, std::exchange(running.spent, 0ns) / running.readings);
  running.readings = 0;
}

std::vector<SlowedReading> Sampler::Slowed() const {
  auto all = slowed_.Read([](const auto& slowed) { return slowed; });
  for (const Running& running : running_) {
    for (SlowedReading& one : running.collector->Slowed()) {
      all.push_back({Format("{}: {}", running.name, one.name), one.period});
    }
  }
  return all;
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
