// CheckCost of check.h.

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "agent/app/commands/check.h"
#include "agent/collect/collector.h"
#include "agent/gpu/gpu.h"
#include "agent/gpu/nvml_cost.h"
#include "agent/host/process.h"
#include "core/base/cpu_time.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kCostSpan = 120s;  // ticks of so long a time, without its waits
constexpr Duration kDriverStart = 10s;
constexpr std::string_view kProcesses = "process";

struct SourceCost {
  std::string_view name;
  TickRow row;
  std::unique_ptr<Collector> collector;
  Duration cpu{}, wall{}, most{};  // CPU and wall time of all readings, CPU time of the dearest
};

std::vector<SourceCost> StartSources(const std::string& root, double core_share) {
  std::vector<SourceCost> all;
  for (const CollectorKind& kind : CollectorTable()) {
    SourceCost one{.name = kind.name, .row = {}, .collector = {}};
    auto collector = kind.make(root, one.row);
    if (!collector) continue;
    one.collector = std::move(*collector);
    one.collector->KeepWithin(core_share / 2);
    all.push_back(std::move(one));
  }
  // A run has this one, too. Here it reads the check's own process.
  all.push_back({.name = kProcesses, .row = {}, .collector = {}});
  all.back().collector = MakeProcessCollector(
      root, [](auto& training) { training = {{.device = "rank0", .pid = getpid()}}; });
  return all;
}

void AwaitDrivers(const std::vector<SourceCost>& all, const Clock& clock) {
  const SteadyTime until = clock.Steady() + kDriverStart;
  const auto starting = [](const SourceCost& one) { return one.collector->Starting(); };
  while (std::ranges::any_of(all, starting) && clock.Steady() < until) poll(nullptr, 0, 50);
}

// Nothing else runs in this process, so that the time of threads behind a source is its own, too.
void ReadSource(SourceCost& one, SteadyTime at, const Clock& clock, bool counts) {
  one.row.Clear();
  const Duration cpu_before = ProcessCpuTime();
  const SteadyTime before = clock.Steady();
  one.collector->Begin(at);
  [[maybe_unused]] const Status read = one.collector->Collect(at, one.row);
  if (!counts) return;
  const Duration cpu = ProcessCpuTime() - cpu_before;
  one.cpu += cpu;
  one.most = std::max(one.most, cpu);
  one.wall += clock.Steady() - before;
}

double Microseconds(Duration duration) {
  return static_cast<double>(duration.count()) / 1000;
}

// At least 0.0001 %, so that what is read is never told to cost nothing.
double PercentOf(Duration cpu) {
  return std::max(100 * ToSeconds(cpu) / ToSeconds(kCostSpan), 0.0001);
}

std::string EveryText(Duration period) {
  return Format("every {}", ToText(period));
}

void AddCalls(const std::string& root, CheckLines& lines) {
  const auto calls = MeasureNvmlCalls(NvmlFile(root));
  if (!calls) {
    lines.push_back({"cost of a driver call", "nvidia", CheckResult::kAbsent,
                     Printable(calls.error().message)});
    return;
  }
  for (const DriverCallCost& one : *calls) {
    lines.push_back({"cost of a driver call", one.call,
                     one.works ? CheckResult::kFine : CheckResult::kAbsent,
                     Format("{:.1f} us of CPU, {:.1f} us on the clock{}", Microseconds(one.cpu),
                            Microseconds(one.wall), one.works ? "" : ", and is refused")});
  }
}

}  // namespace

void CheckCost(const SamplingOptions& sampling, const Clock& clock, CheckLines& lines) {
  std::vector<SourceCost> all = StartSources(sampling.root, sampling.core_share);
  AwaitDrivers(all, clock);
  const SteadyTime begun = clock.Steady();
  const auto ticks = std::max<std::int64_t>(2, kCostSpan / sampling.interval);
  // The first two ticks read all there is.
  for (std::int64_t i = 0; i < ticks + 2; ++i) {
    for (SourceCost& one : all) ReadSource(one, begun + i * sampling.interval, clock, i >= 2);
  }
  Duration sum{};
  for (const SourceCost& one : all) {
    const bool each = one.name == kProcesses;
    sum += one.cpu;
    lines.push_back(
        {"cost of reading", std::string(one.name), CheckResult::kFine,
         Format("{:.4f} % of a core; a tick {:.1f} us of CPU, {:.1f} at most, {:.1f} us "
                "on the clock{}",
                PercentOf(one.cpu), Microseconds(one.cpu / ticks), Microseconds(one.most),
                Microseconds(one.wall / ticks),
                each ? ", of one process: each of a rank's costs as much" : "")});
    for (const SlowedReading& slowed : one.collector->Slowed()) {
      lines.push_back(
          {"cost of reading", std::string(one.name), CheckResult::kNote,
           Format("{} are read {} to keep to the budget", slowed.name, EveryText(slowed.period))});
    }
  }
  const double percent = PercentOf(sum), budget = 100 * sampling.core_share;
  lines.push_back({"cost of reading", "all",
                   percent <= budget ? CheckResult::kFine : CheckResult::kNote,
                   Format("{:.4f} % of a core at {}; the budget is {:.4g} %", percent,
                          ToText(sampling.interval), budget)});
  AddCalls(sampling.root, lines);
}

}  // namespace stepscope
