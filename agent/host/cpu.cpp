#include "agent/host/cpu.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>
#include <vector>

#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr int kMostCores = 8192;

struct Share {
  double CpuShares::*share;
  std::string_view node, core;
  bool split;  // a part of the use, shown only on nodes with few cores
};

constexpr Share kShares[] = {
    {&CpuShares::util_percent, "node_cpu_percent", "cpu_util_percent", false},
    {&CpuShares::iowait_percent, "node_iowait_percent", "cpu_iowait_percent", false},
    {&CpuShares::user_percent, "node_user_percent", "cpu_user_percent", true},
    {&CpuShares::system_percent, "node_system_percent", "cpu_system_percent", true},
    {&CpuShares::steal_percent, "node_steal_percent", "cpu_steal_percent", true},
};

class CpuCore {
 public:
  // `number` is -1 for all cores together.
  CpuCore(int number, bool split) {
    const std::string device = number < 0 ? "" : Format("cpu{}", number);
    for (const Share& share : kShares) {
      if (number >= 0 && share.split && !split) continue;
      columns_.push_back({share.share, GaugeSeries(number < 0 ? share.node : share.core, device)});
    }
  }

  void Take(const CpuTimes& times, std::uint64_t reading, TickRow& row) {
    const CpuTimes before = std::exchange(times_, times);
    // A core that was offline since has no earlier reading to compare with.
    const bool follows = std::exchange(read_at_, reading) + 1 == reading && reading > 1;
    const auto shares = follows ? CpuSharesBetween(before, times) : std::nullopt;
    if (!shares) return;
    for (auto& [share, column] : columns_) {
      // Steal time has no series until there is some: most nodes are no virtual machine, or have
      // one to themselves.
      const bool never = share == &CpuShares::steal_percent && times.steal == 0;
      if (!never) column.Set((*shares).*share, row);
    }
  }

 private:
  std::vector<std::pair<double CpuShares::*, GaugeSeries>> columns_;
  CpuTimes times_;
  std::uint64_t read_at_ = 0;  // number of the last reading with this core
};

// The number behind `name`, in one of the remaining lines.
std::optional<std::uint64_t> NumberOf(std::string_view name, std::string_view text) {
  std::string_view line;
  while (TakeLine(text, line)) {
    if (line.starts_with(name) && TakeWord(line) == name) return TakeNumber(line);
  }
  return std::nullopt;
}

class CpuCollector : public Collector {
 public:
  CpuCollector(Source source, bool split) : source_(std::move(source)), split_(split) {}

  Status Collect(SteadyTime now, TickRow& row) override {
    auto text = source_.Read();
    if (!text) return text.error();
    ++reading_;
    std::string_view line;
    bool any = false;
    while (TakeLine(*text, line) && line.starts_with("cpu")) {
      int number = 0;
      const auto times = ParseCpuLine(line, number);
      if (times) At(number).Take(*times, reading_, row), any = true;
    }
    if (!any) return Unavailable("/proc/stat: no line of a CPU");
    if (const auto switches = NumberOf("ctxt", *text)) switches_.Take(*switches, now, row);
    return {};
  }

 private:
  CpuCore& At(int number) {
    const auto index = static_cast<std::size_t>(number + 1);
    while (index >= cores_.size()) cores_.emplace_back(static_cast<int>(cores_.size()) - 1, split_);
    return cores_[index];
  }

  Source source_;
  const bool split_;
  std::uint64_t reading_ = 0;
  std::vector<CpuCore> cores_;  // the first one is the mean of all cores
  RateSeries switches_{"node_context_switches_per_second", ""};
};

int CoresOf(std::string_view text) {
  int cores = 0, number = 0;
  std::string_view line;
  while (TakeLine(text, line) && line.starts_with("cpu")) {
    cores += ParseCpuLine(line, number) && number >= 0;
  }
  return cores;
}

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
  // `user` includes the time of guests.
  enum { kUser, kNice, kSystem, kIdle, kIowait, kIrq, kSoftirq, kSteal };
  constexpr std::size_t kFewest = kIdle + 1;
  std::array<std::uint64_t, kSteal + 1> fields{};
  CpuTimes times;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    const auto field = TakeNumber(line);
    if (!field && i < kFewest) return std::nullopt;
    fields[i] = field.value_or(0);
    times.total += fields[i];
  }
  times.idle = fields[kIdle];
  times.iowait = fields[kIowait];
  times.user = fields[kUser] + fields[kNice];
  times.steal = fields[kSteal];
  return times;
}

std::optional<CpuShares> CpuSharesBetween(const CpuTimes& before, const CpuTimes& now) {
  if (now.total <= before.total || now.idle < before.idle || now.iowait < before.iowait) {
    return std::nullopt;
  }
  const auto total = static_cast<double>(now.total - before.total);
  const auto share = [&](std::uint64_t was, std::uint64_t is) {
    return std::clamp(100 * static_cast<double>(is - std::min(was, is)) / total, 0.0, 100.0);
  };
  CpuShares shares;
  shares.iowait_percent = share(before.iowait, now.iowait);
  shares.util_percent = std::max(0.0, 100 - share(before.idle, now.idle) - shares.iowait_percent);
  shares.user_percent = share(before.user, now.user);
  shares.steal_percent = share(before.steal, now.steal);
  shares.system_percent =
      std::max(0.0, shares.util_percent - shares.user_percent - shares.steal_percent);
  return shares;
}

Result<std::unique_ptr<Collector>> MakeCpuCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/stat");
  if (!source) return source.error();
  const auto text = source->Read();
  const bool split = text && CoresOf(*text) <= kMostSplitCores;
  return std::unique_ptr<Collector>(std::make_unique<CpuCollector>(std::move(*source), split));
}

}  // namespace stepscope
