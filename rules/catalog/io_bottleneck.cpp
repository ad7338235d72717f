// GPUs idle while their node waits for disks or file servers.

#include <algorithm>

#include "core/base/text.h"
#include "rules/signals/tick_share.h"
#include "rules/stats/columns.h"
#include "rules/stats/statistics.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 50, 0, 100, "%",
     "Share of the judged ticks that are bottlenecks from which it fires."},
    {"io_threshold", 50, 0, 100, "%",
     "A core above this waits for disks. Where cores are not sampled, the waits of all add up."},
    {"gpu_threshold", 10, 0, 100, "%", "A GPU below this is idle."},
    kPatience,
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent", "cpu_iowait_percent",
                                         "node_iowait_percent"};

TickShare::Words WordsOf(const Params& params) {
  return {Format("was below {:g} % while a core waited for disks for more than {:g} % of its time",
                 params["gpu_threshold"], params["io_threshold"]),
          "a GPU's use and I/O wait"};
}

class IoFold : public TickShare {
 public:
  IoFold(const Params& params, const JobFacts& facts)
      : TickShare(params, facts, WordsOf(params)),
        nodes_(facts.nodes),
        gpu_bin_(PercentBin(params["gpu_threshold"])),
        io_percent_(params["io_threshold"]) {}

  using TickShare::Observe;
  void Observe(const TickView& ticks) override {
    const auto gpus = ColumnsOf(ticks, kMetrics[0]), cores = ColumnsOf(ticks, kMetrics[1]),
               node = ColumnsOf(ticks, kMetrics[2]);
    const std::uint32_t core_bin = PercentBin(io_percent_);
    const std::uint32_t mean_bin = PercentBin(io_percent_ / Cores(ticks.node));
    Count(ticks, [&](std::size_t row) -> std::optional<double> {
      const auto idle = ShareBelow(gpus, row, gpu_bin_);
      auto waits = AnyAbove(cores, row, core_bin);
      if (!waits) waits = AnyAbove(node, row, mean_bin);
      if (!idle || !waits) return {};
      return *waits ? *idle : 0;
    });
  }

 private:
  // A node with many cores gives their mean only: as much waiting as one core above the threshold
  // is a bottleneck there, however the kernel spread it.
  double Cores(std::string_view name) const {
    const auto found = std::ranges::find(nodes_, name, &NodeFacts::name);
    return found == nodes_.end() ? 1 : std::max(found->cores, 1);
  }

  std::vector<NodeFacts> nodes_;
  std::uint32_t gpu_bin_;
  double io_percent_;
};

}  // namespace

RuleType IoBottleneck() {
  return {
      .name = "IOBottleneck",
      .sentence = "A GPU idles while its node waits for disks or file servers.",
      .fires =
          "In more than threshold of the judged samples a GPU is below gpu_threshold while a core "
          "of its node waits for disks or file servers for more than io_threshold of its time.",
      .advice =
          "Fetch batches ahead, keep data in fewer and larger binary files, and nearer to the GPUs "
          "(local disks, memory).",
      .params = kParams,
      .metrics = kMetrics,
      .steps = StepNeed::kAllThereAre,
      .make = MakeFold<IoFold>,
  };
}

}  // namespace stepscope
