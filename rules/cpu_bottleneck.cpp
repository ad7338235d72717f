// GPUs idle while a core of their node is saturated.

#include <algorithm>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/finding_track.h"
#include "rules/initialisation.h"
#include "rules/sentence.h"
#include "rules/state.h"
#include "rules/statistics.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 50, 0, 100, "%",
     "Share of the judged ticks that are bottlenecks from which it fires."},
    {"gpu_threshold", 10, 0, 100, "%", "A GPU below this is idle."},
    {"cpu_threshold", 90, 0, 100, "%", "A core above this is saturated; I/O wait is not CPU use."},
    {"patience", 1000, 0, 10'000'000, "samples",
     "Initialisation that is not judged; it ends with the first training step when there is one."},
};
constexpr std::string_view kMetrics[] = {"gpu_util_percent", "cpu_util_percent"};
// A share of fewer ticks means nothing.
constexpr std::int64_t kLeastJudged = 60;
constexpr std::size_t kMostShown = 64;  // nodes in the evidence
constexpr std::string_view kAdvice =
    "Use more data-loader workers, fetch batches ahead, or move preprocessing off the busy core.";

struct Counts {
  std::int64_t judged = 0, bottleneck = 0;

  double Share() const {
    return judged == 0 ? 0 : static_cast<double>(bottleneck) / static_cast<double>(judged);
  }
  template <typename State>
  void Fields(State& state) {
    state("judged", judged);
    state("bottleneck", bottleneck);
  }
};

struct Node {
  Counts all, recent;            // of the job; since the last scan
  std::optional<Time> from, to;  // first and last judged tick since the last scan
  double lost = 0;               // parts of its GPUs that idled in bottlenecks, summed over ticks

  template <typename State>
  void Fields(State& state) {
    state("all", all);
    state("recent", recent);
    state("from", from);
    state("to", to);
    state("lost", lost);
  }
};

class CpuFold : public Fold {
 public:
  CpuFold(const Params& params, const JobFacts& facts)
      : facts_(facts),
        threshold_(params["threshold"] / 100),
        gpu_bin_(PercentBin(params["gpu_threshold"])),
        cpu_bin_(PercentBin(params["cpu_threshold"])),
        start_(params.Samples("patience"), facts) {}

  void Observe(const StepView& steps) override { start_.Observe(steps); }
  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }
  Json Save() const override { return SaveFields(*this); }
  Status Load(const Json& state) override { return LoadFields(state, *this); }

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("findings", findings_);
    state("nodes", nodes_, [] { return Node(); });
    state("scans", scans_);
    state("triggers", triggers_);
    state("fired", fired_);
    state("active", active_);
  }

 private:
  void Trigger(const std::string& name, const Node& node);
  Counts Total() const;
  std::string Describe(const std::string& who, const Counts& counts) const;
  Json Evidence() const;

  JobFacts facts_;
  double threshold_;
  std::uint32_t gpu_bin_, cpu_bin_;

  Initialisation start_;
  FindingTrack findings_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::int64_t scans_ = 0, triggers_ = 0;  // scans that judged; those in which the share was above
  std::optional<Time> fired_;
  bool active_ = false;
};

// The columns of one metric.
std::vector<const Column*> ColumnsOf(const TickView& ticks, std::string_view metric) {
  std::vector<const Column*> columns;
  for (std::size_t i = 0; i < ticks.series.size(); ++i) {
    if (ticks.series[i].metric == metric) columns.push_back(&ticks.columns[i]);
  }
  return columns;
}

void CpuFold::Observe(const TickView& ticks) {
  const auto gpus = ColumnsOf(ticks, kMetrics[0]);
  const auto cores = ColumnsOf(ticks, kMetrics[1]);
  Node& node = nodes_[std::string(ticks.node)];
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    if (start_.Observe(ticks.node, ticks.At(row)) == Initialisation::Tick::kNotJudged) continue;
    const auto has = [row](const Column* column) { return column->Has(row); };
    // Without a sample of either kind the tick says nothing.
    const auto known = std::ranges::count_if(gpus, has);
    if (known == 0 || std::ranges::none_of(cores, has)) continue;
    const auto idle = std::ranges::count_if(
        gpus, [&](const Column* gpu) { return gpu->Has(row) && PercentBin(*gpu, row) < gpu_bin_; });
    const bool bottleneck = idle > 0 && std::ranges::any_of(cores, [&](const Column* core) {
                              return core->Has(row) && PercentBin(*core, row) > cpu_bin_;
                            });
    for (Counts* counts : {&node.all, &node.recent}) {
      ++counts->judged;
      counts->bottleneck += bottleneck ? 1 : 0;
    }
    if (bottleneck) node.lost += static_cast<double>(idle) / static_cast<double>(known);
    if (!node.from) node.from = ticks.At(row);
    node.to = ticks.At(row);
  }
}

Counts CpuFold::Total() const {
  Counts total;
  for (const auto& [name, node] : nodes_) {
    total.judged += node.all.judged;
    total.bottleneck += node.all.bottleneck;
  }
  return total;
}

void CpuFold::Scan(Time at) {
  const Counts total = Total();
  Counts recent;
  for (const auto& [name, node] : nodes_) {
    recent.judged += node.recent.judged;
    recent.bottleneck += node.recent.bottleneck;
  }
  const bool judges = total.judged >= kLeastJudged && recent.judged > 0;
  const bool fires = judges && total.Share() > threshold_;
  if (judges) ++scans_;
  if (fires) ++triggers_;
  if (fires && !fired_) fired_ = at;
  active_ = fired_ && recent.Share() > threshold_;
  for (auto& [name, node] : nodes_) {
    if (fired_ && node.recent.Share() > threshold_) Trigger(name, node);
    if (!judges && recent.judged > 0) continue;  // too few: the next scan sees them too
    node.recent = {};
    node.from.reset();
  }
}

void CpuFold::Trigger(const std::string& name, const Node& node) {
  // One tick longer at the start, so that it reaches to the stretch before.
  findings_.Trigger({name, ""}, *node.from - 2 * facts_.interval, *node.to,
                    Describe("A GPU of node " + name, node.recent),
                    {{"judged", node.recent.judged}, {"bottleneck", node.recent.bottleneck}});
}

std::string CpuFold::Describe(const std::string& who, const Counts& counts) const {
  return Format(
      "{} was below {:g} % while a core was above {:g} % in {:.1f} % of {}; the threshold is {:g} "
      "%.",
      who, BinPercent(gpu_bin_), BinPercent(cpu_bin_), counts.Share() * 100,
      SamplesText(counts.judged, facts_.interval), threshold_ * 100);
}

Json CpuFold::Evidence() const {
  const Counts total = Total();
  Json nodes = Json::array();
  for (const auto& [name, node] : nodes_) {
    if (nodes.size() == kMostShown) break;
    nodes.push_back(
        {{"node", name}, {"judged", node.all.judged}, {"bottleneck", node.all.bottleneck}});
  }
  Json evidence = {{"judged", total.judged},
                   {"bottleneck", total.bottleneck},
                   {"scans", scans_},
                   {"triggers", triggers_},
                   {"findings_left_out", findings_.left_out()},
                   {"nodes", std::move(nodes)}};
  if (fired_) evidence["advice"] = kAdvice;
  return evidence;
}

Verdict CpuFold::Judge() const {
  const Counts total = Total();
  Verdict verdict;
  if (scans_ == 0) {
    const bool over =
        std::ranges::any_of(nodes_, [&](const auto& node) { return start_.IsOver(node.first); });
    if (facts_.Gpus() == 0 && !facts_.nodes.empty() && total.judged == 0) {
      verdict.sentence = "no GPU on any node";
    } else if (!over) {
      verdict.sentence = start_.Reason();
    } else {
      verdict.sentence = Format("{} of {} judged samples seen", total.judged, kLeastJudged);
    }
    return verdict;
  }
  verdict.kind = fired_ ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe("A GPU", total);
  verdict.share = total.Share();
  if (fired_) {
    double lost = 0;
    for (const auto& [name, node] : nodes_) lost += node.lost;
    verdict.severity = SeverityOfLoss(lost / static_cast<double>(total.judged));
    verdict.active = active_;
    verdict.fired = fired_;
    if (total.Share() <= threshold_) {
      verdict.sentence +=
          Format(" It was above in {} of {}.", triggers_, CountText(scans_, "scan"));
    }
    if (!active_) verdict.sentence += " The newest scan is not above it.";
  }
  verdict.evidence = Evidence();
  return verdict;
}

}  // namespace

RuleType CpuBottleneck() {
  return {"CPUBottleneck",
          "A GPU idles while a core of its node is saturated.",
          kParams,
          kMetrics,
          StepNeed::kFirst,
          [](const Params& params, const JobFacts& facts) -> std::unique_ptr<Fold> {
            return std::make_unique<CpuFold>(params, facts);
          }};
}

}  // namespace stepscope
