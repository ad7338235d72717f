#include "agent/host/cpu.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <vector>

#include "agent/collect/scan.h"
#include "agent/collect/source.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kMostCores = 8192;

struct Core {
  std::size_t util = TickRow::kNoColumn;
  std::size_t iowait = TickRow::kNoColumn;
  bool known = false;  // has columns
  CpuTimes times;
  std::uint64_t read_at = 0;  // the number of the reading that saw it last
};

class CpuCollector : public Collector {
 public:
  explicit CpuCollector(Source source) : source_(std::move(source)) {}

  Status Collect(SteadyTime, TickRow& row) override {
    auto text = source_.Read();
    if (!text) return text.error();
    ++reading_;
    std::string_view line;
    bool any = false;
    while (TakeLine(*text, line) && line.starts_with("cpu")) {
      int number = 0;
      const auto times = ParseCpuLine(line, number);
      if (times) Take(number, *times, row), any = true;
    }
    if (!any) return Unavailable("/proc/stat: no line of a CPU");
    return {};
  }

 private:
  void Take(int number, const CpuTimes& times, TickRow& row) {
    Core& core = At(number, row);
    const CpuTimes before = std::exchange(core.times, times);
    // A core that was offline in between has no time of its own to compare with.
    const bool follows = std::exchange(core.read_at, reading_) + 1 == reading_;
    if (!follows || reading_ == 1) return;
    const auto shares = CpuSharesBetween(before, times);
    if (!shares) return;
    row.Set(core.util, shares->util_percent);
    row.Set(core.iowait, shares->iowait_percent);
  }

  Core& At(int number, TickRow& row) {
    const auto index = static_cast<std::size_t>(number + 1);
    if (index >= cores_.size()) cores_.resize(index + 1);
    Core& core = cores_[index];
    if (core.known) return core;
    const bool node = number < 0;
    const std::string device = node ? "" : Format("cpu{}", number);
    core.util = row.Add(node ? "node_cpu_percent" : "cpu_util_percent", device);
    core.iowait = row.Add(node ? "node_iowait_percent" : "cpu_iowait_percent", device);
    core.known = true;
    return core;
  }

  Source source_;
  std::uint64_t reading_ = 0;
  std::vector<Core> cores_;  // the first is the mean of all
};

}  // namespace

std::optional<CpuTimes> ParseCpuLine(std::string_view line, int& core) {
  std::string_view name = TakeWord(line);
  if (!name.starts_with("cpu")) return std::nullopt;
  name.remove_prefix(3);
  core = -1;
  if (!name.empty()) {
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), core);
    if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
    if (core < 0 || core >= kMostCores) return std::nullopt;
  }
  // user nice system idle iowait irq softirq steal; guests are in user already.
  constexpr std::size_t kIdle = 3, kIowait = 4, kFewest = 4;
  std::array<std::uint64_t, 8> fields{};
  CpuTimes times;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto field = TakeNumber(line);
    if (!field && i < kFewest) return std::nullopt;
    fields[i] = field.value_or(0);
    times.total += fields[i];
  }
  times.idle = fields[kIdle];
  times.iowait = fields[kIowait];
  return times;
}

std::optional<CpuShares> CpuSharesBetween(const CpuTimes& before, const CpuTimes& now) {
  if (now.total <= before.total || now.idle < before.idle || now.iowait < before.iowait) {
    return std::nullopt;
  }
  const auto total = static_cast<double>(now.total - before.total);
  const auto idle = static_cast<double>(now.idle - before.idle);
  const auto iowait = static_cast<double>(now.iowait - before.iowait);
  return CpuShares{std::clamp(100 * (total - idle - iowait) / total, 0.0, 100.0),
                   std::clamp(100 * iowait / total, 0.0, 100.0)};
}

Result<std::unique_ptr<Collector>> MakeCpuCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/stat");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<CpuCollector>(std::move(*source)));
}

}  // namespace stepscope
