#include "agent/host/faults.h"

#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "agent/collect/paced_collector.h"
#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"

namespace stepscope {
namespace {

// To answer, the kernel sums up the counts of each core.
constexpr Duration kFaultsPeriod = 5s;

struct FaultCount {
  std::string_view name, metric;
  bool pages;  // counted in pages, shown as bytes
};

constexpr FaultCount kFaultCounts[] = {
    {"pswpin", "swap_in_bytes_per_second", true},
    {"pswpout", "swap_out_bytes_per_second", true},
    {"pgfault", "memory_faults_per_second", false},
    {"pgmajfault", "memory_major_faults_per_second", false},
};

class FaultsCollector : public PacedCollector {
 public:
  explicit FaultsCollector(Source source)
      : PacedCollector(kFaultsPeriod), source_(std::move(source)) {
    const auto page = static_cast<double>(sysconf(_SC_PAGESIZE));
    for (const FaultCount& count : kFaultCounts)
      rates_.emplace_back(count.metric, "", count.pages ? page : 1);
  }

 private:
  Status Read(SteadyTime now, TickRow& row) override {
    auto text = source_.Read();
    if (!text) return text.error();
    std::string_view line;
    while (TakeLine(*text, line)) {
      // Skips most of some 200 lines, which hold other counts.
      if (line.starts_with('p') || line.starts_with('o')) Take(line, now, row);
    }
    return {};
  }

  void Take(std::string_view line, SteadyTime now, TickRow& row) {
    const std::string_view name = TakeWord(line);
    const auto count = std::ranges::find(kFaultCounts, name, &FaultCount::name);
    if (count != std::end(kFaultCounts)) {
      const auto number = TakeNumber(line);
      if (number) rates_[count - std::begin(kFaultCounts)].Take(*number, now, row);
    } else if (name == "oom_kill") {
      const auto number = TakeNumber(line);
      if (number) kills_.Set(static_cast<double>(*number), row);
    }
  }

  Source source_;
  std::vector<RateSeries> rates_;  // in the order of kFaultCounts
  GaugeSeries kills_{"memory_oom_kills"};
};

}  // namespace

Result<std::unique_ptr<Collector>> MakeFaultsCollector(const std::string& root, TickRow&) {
  auto source = Source::Open(root, "/proc/vmstat");
  if (!source) return source.error();
  return std::unique_ptr<Collector>(std::make_unique<FaultsCollector>(std::move(*source)));
}

}  // namespace stepscope
