// GPUs idle while a core of their node is saturated.

#include "core/base/text.h"
#include "rules/signals/tick_share.h"
#include "rules/stats/columns.h"
#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 50, 0, 100, "%",
     "Share of the judged ticks that are bottlenecks from which it fires."},
    {"gpu_threshold", 10, 0, 100, "%", "A GPU below this is idle."},
    {"cpu_threshold", 90, 0, 100, "%", "A core above this is saturated; I/O wait is not CPU use."},
    kPatience,
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent", "cpu_util_percent"};

TickShare::Words WordsOf(const Params& params) {
  return {Format("was below {:g} % while a core was above {:g} %", params["gpu_threshold"],
                 params["cpu_threshold"]),
          "a GPU's use and a core's"};
}

class CpuFold : public TickShare {
 public:
  CpuFold(const Params& params, const JobFacts& facts)
      : TickShare(params, facts, WordsOf(params)),
        gpu_bin_(PercentBin(params["gpu_threshold"])),
        cpu_bin_(PercentBin(params["cpu_threshold"])) {}

  using TickShare::Observe;
  void Observe(const TickView& ticks) override {
    const auto gpus = ColumnsOf(ticks, kMetrics[0]), cores = ColumnsOf(ticks, kMetrics[1]);
    Count(ticks, [&](std::size_t row) -> std::optional<double> {
      const auto idle = ShareBelow(gpus, row, gpu_bin_);
      const auto saturated = AnyAbove(cores, row, cpu_bin_);
      if (!idle || !saturated) return {};
      return *saturated ? *idle : 0;
    });
  }

 private:
  std::uint32_t gpu_bin_, cpu_bin_;
};

}  // namespace

RuleType CpuBottleneck() {
  return {
      .name = "CPUBottleneck",
      .sentence = "A GPU idles while a core of its node is saturated.",
      .fires =
          "In more than threshold of the judged samples a GPU is below gpu_threshold while a core "
          "of its node is above cpu_threshold. Waiting for disks is not CPU use.",
      .advice =
          "Use more data-loader workers, fetch batches ahead, or move preprocessing off the busy "
          "core.",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kAllThereAre,
      .make = MakeFold<CpuFold>,
  };
}

}  // namespace stepscope
