#include "rules/signals/device_windows.h"

#include <algorithm>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_scans.h"
#include "rules/stats/columns.h"

namespace stepscope {

// `next` is where the window probably is: a table has its devices in the order of the map.
DeviceWindows::ByDevice::iterator DeviceWindows::At(std::size_t metric, std::string_view node,
                                                    const std::string& device,
                                                    ByDevice::iterator next) {
  ByDevice& windows = windows_[metric];
  if (next != windows.end() && next->first.node == node && next->first.device == device) {
    return next;
  }
  const Subject subject{std::string(node), device};
  const auto found = windows.find(subject);
  return found != windows.end() ? found : windows.emplace(subject, NewWindow()).first;
}

void DeviceWindows::Observe(const TickView& ticks, Initialisation& start, TrainingTime* training,
                            Duration interval) {
  std::optional<std::size_t> restart;  // rows before this one were initialisation
  const std::size_t unknown = start.IsOver(ticks.node) ? ticks.end : ticks.first;
  for (std::size_t row = unknown; row < ticks.end; ++row) {
    const auto tick = start.Observe(ticks.node, ticks.At(row));
    if (tick == Initialisation::Tick::kFirstAfterStep) restart = row;
  }
  const auto again =
      training == nullptr ? std::nullopt : training->FirstAfterRestart(ticks, interval);
  if (again) restart = std::max(restart.value_or(*again), *again);
  for (std::size_t metric = 0; metric < metrics_.size(); ++metric) {
    auto next = windows_[metric].lower_bound(Subject{std::string(ticks.node), ""});
    for (const DeviceColumn& each : ColumnsOf(ticks, metrics_[metric])) {
      const auto at = At(metric, ticks.node, each.device, next);
      next = std::next(at);
      Window& window = at->second;
      if (restart) window.values.Clear();
      Add(ticks, restart.value_or(ticks.first), *each.column, window);
    }
  }
}

// Adds device by device, so that a window's counts stay in the nearest cache meanwhile.
void DeviceWindows::Add(const TickView& ticks, std::size_t first, const Column& column,
                        Window& window) {
  std::optional<std::size_t> last;
  for (std::size_t row = first; row < ticks.end; ++row) {
    if (!column.Has(row)) continue;
    window.values.Add(PercentBin(column, row));
    last = row;
  }
  if (!last) return;
  window.fresh = true;
  window.last = ticks.At(*last);
}

void DeviceWindows::EndScan() {
  for (ByDevice& windows : windows_) {
    for (auto& [subject, window] : windows) window.fresh = false;
  }
}

const DeviceWindows::Window* DeviceWindows::Find(std::size_t metric, const Subject& subject) const {
  const auto found = windows_[metric].find(subject);
  return found == windows_[metric].end() ? nullptr : &found->second;
}

const DeviceWindows::Window* DeviceWindows::Full(std::size_t metric, const Subject& subject) const {
  const Window* window = Find(metric, subject);
  return window != nullptr && window->fresh && window->values.full() ? window : nullptr;
}

std::string DeviceWindows::Unjudged(std::size_t metric, const JobFacts& facts,
                                    const Initialisation& start) const {
  std::vector<Subject> gpus;
  std::size_t seen = 0;
  for (const auto& [subject, window] : windows_[metric]) {
    gpus.push_back(subject);
    seen = std::max(seen, window.values.size());
  }
  const std::string reason = WithoutSamples(facts, start, gpus, metrics_[metric]);
  if (!reason.empty()) return reason;
  return Format("{} of {} samples of a GPU's window seen since the initialisation",
                Grouped(static_cast<std::int64_t>(seen)),
                Grouped(static_cast<std::int64_t>(window_)));
}

}  // namespace stepscope
