#include "agent/host/frequency.h"

#include <filesystem>
#include <optional>
#include <vector>

#include "agent/collect/paced_collector.h"
#include "agent/collect/scan.h"
#include "agent/collect/series.h"
#include "agent/collect/source.h"
#include "agent/host/cpu.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// The kernel may have to ask each core.
constexpr Duration kFrequencyPeriod = 5s;

struct CoreFrequency {
  Source source;  // kHz
  std::optional<GaugeSeries> column;
};

class FrequencyCollector : public PacedCollector {
 public:
  explicit FrequencyCollector(std::vector<CoreFrequency> cores)
      : PacedCollector(kFrequencyPeriod), cores_(std::move(cores)) {}

 private:
  Status Read(SteadyTime, TickRow& row) override {
    double sum = 0;
    int read = 0;
    for (CoreFrequency& core : cores_) {
      auto text = core.source.Read();  // fails while the core is offline
      std::string_view line;
      const auto khz = text && TakeLine(*text, line) ? TakeNumber(line) : std::nullopt;
      if (!khz || *khz == 0) continue;
      const double mhz = static_cast<double>(*khz) / 1000;
      if (core.column) core.column->Set(mhz, row);
      sum += mhz, ++read;
    }
    if (read == 0) return Unavailable("cpufreq: no clock of a core");
    mean_.Set(sum / read, row);
    return {};
  }

  std::vector<CoreFrequency> cores_;
  GaugeSeries mean_{"node_cpu_clock_mhz"};
};

int CountCores(const std::string& root) {
  int cores = 0;
  std::error_code failed;
  while (std::filesystem::exists(Format("{}/sys/devices/system/cpu/cpu{}", root, cores), failed)) {
    ++cores;
  }
  return cores;
}

}  // namespace

Result<std::unique_ptr<Collector>> MakeFrequencyCollector(const std::string& root, TickRow&) {
  const int cores = CountCores(root);
  const int step = cores / (kMostSplitCores + 1) + 1;
  std::vector<CoreFrequency> opened;
  Error reason{Code::kNotFound, "/sys/devices/system/cpu/cpu0: No such file or directory"};
  for (int core = 0; core < cores; core += step) {
    auto source =
        Source::Open(root, Format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", core));
    if (!source) {
      if (core == 0) reason = source.error();
      continue;
    }
    opened.push_back({std::move(*source), std::nullopt});
    if (step == 1) opened.back().column.emplace("cpu_clock_mhz", Format("cpu{}", core));
  }
  if (opened.empty()) return reason;
  return std::unique_ptr<Collector>(std::make_unique<FrequencyCollector>(std::move(opened)));
}

}  // namespace stepscope
