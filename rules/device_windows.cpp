#include "rules/device_windows.h"

#include <algorithm>

#include "core/base/text.h"
#include "rules/columns.h"
#include "rules/device_scans.h"
#include "rules/sentence.h"

namespace stepscope {

DeviceWindows::Window& DeviceWindows::At(std::size_t metric, const Subject& subject) {
  const auto found = windows_[metric].find(subject);
  if (found != windows_[metric].end()) return found->second;
  return windows_[metric].emplace(subject, NewWindow()).first->second;
}

void DeviceWindows::Observe(const TickView& ticks, Initialisation& start) {
  std::vector<std::pair<Window*, const Column*>> windows;
  for (std::size_t metric = 0; metric < metrics_.size(); ++metric) {
    for (const DeviceColumn& each : ColumnsOf(ticks, metrics_[metric])) {
      Window& window = At(metric, {std::string(ticks.node), each.device});
      windows.emplace_back(&window, each.column);
    }
  }
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    const bool restart = start.Observe(ticks.node, at) == Initialisation::Tick::kFirstAfterStep;
    for (auto& [window, column] : windows) {
      if (restart) window->values.Clear();
      if (!column->Has(row)) continue;
      window->values.Add(PercentBin(*column, row));
      window->fresh = true;
      window->last = at;
    }
  }
}

void DeviceWindows::EndScan() {
  for (Windows& windows : windows_) {
    for (auto& [subject, window] : windows) window.fresh = false;
  }
}

const DeviceWindows::Window* DeviceWindows::Full(std::size_t metric, const Subject& subject) const {
  const auto found = windows_[metric].find(subject);
  if (found == windows_[metric].end()) return nullptr;
  const Window& window = found->second;
  return window.fresh && window.values.full() ? &window : nullptr;
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
