// GPUs wait for the training thread, which cannot launch work as fast as they do it.
//
// A sample counts when a GPU is not busy, a training thread is, and nothing else explains it: no
// disk or network at its limit (rules/diagnosis/host_signs.h), and no waits in the steps of its
// minute. Where the host shows no reason for idle GPUs, windows tell, or the verdict is unknown.

#include <algorithm>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/diagnosis/host_signs.h"
#include "rules/diagnosis/launch_bound.h"
#include "rules/diagnosis/window_evidence.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/signals/initialisation.h"
#include "rules/signals/launch_minutes.h"
#include "rules/signals/minute_buckets.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {"threshold", 15, 0, 100, "%",
     "Share of the judged samples in which GPUs wait for the training thread."},
    {"core", 90, 0, 100, "%", "A training thread that uses more of a CPU core cannot keep up."},
};
constexpr double kGpuBusy = 70;            // %: a GPU above it waits for nobody
constexpr std::int64_t kLeastJudged = 60;  // samples; a share of fewer means nothing
constexpr std::size_t kMostShown = 64;     // nodes in the evidence

struct Node {
  LaunchCounts all, recent;          // counts of the job; since the minute that was judged last
  std::optional<Time> first, until;  // first recent sample; end of the newest minute that fired
  StepSums newest;                   // steps of the newest minute that has any
  std::int64_t unjudged = 0;         // samples before the newest minute with steps
  HostSeldom seldom;

  template <typename State>
  void Fields(State& state) {
    state("all", all);
    state("recent", recent);
    state("first", first);
    state("until", until);
    state("newest", newest);
    state.Added("seldom", seldom);
    state("unjudged", unjudged);
    state.Dropped("link", double());
  }
};

class OverheadFold : public FieldsFold<OverheadFold> {
 public:
  OverheadFold(const Params& params, const JobFacts& facts)
      : threshold_(params["threshold"] / 100),
        core_(params["core"]),
        facts_(facts),
        start_(0, facts) {}

  void Observe(const StepView& steps) override;
  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("findings", findings_);
    state("windows", windows_);
    state("nodes", nodes_, [] { return Node(); });
    state("fired", fired_);
    state("active", active_);
  }

 private:
  void Count(const HostSigns& signs, std::size_t row, Node& node, LaunchCounts& counts) const;
  void Add(const LaunchMinute& minute, Node& node) const;
  void Close(Time from, const LaunchMinutes& minutes);
  void Trigger(const std::string& name, Node& node, Time from);
  LaunchCounts Total() const;
  std::string Describe(const std::string& where, const LaunchCounts& counts) const;
  std::string Unjudged() const;
  Json Evidence() const;
  StepSums NewestSteps() const;

  double threshold_, core_;
  JobFacts facts_;

  Initialisation start_;
  FindingTrack findings_;
  MinuteBuckets<LaunchMinutes> windows_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::optional<Time> fired_;
  bool active_ = false;
};

void OverheadFold::Observe(const StepView& steps) {
  start_.Observe(steps);
  for (const Step& step : steps.steps) {
    LaunchMinutes* minutes = windows_.At(EndedAt(step));
    if (minutes != nullptr) minutes->nodes[std::string(steps.node)].steps.Add(step);
  }
}

void OverheadFold::Observe(const TickView& ticks) {
  Node& node = nodes_[std::string(ticks.node)];
  const HostSigns signs(ticks);
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    const auto tick = start_.Observe(ticks.node, at);
    if (tick == Initialisation::Tick::kNotJudged) continue;
    LaunchMinutes* minutes = windows_.At(at);
    if (minutes == nullptr) continue;
    LaunchMinute& minute = minutes->nodes[std::string(ticks.node)];
    // Drops the samples before the first step; minutes before it had no steps and are not judged.
    if (tick == Initialisation::Tick::kFirstAfterStep) minute.counts = {}, minute.first.reset();
    Count(signs, row, node, minute.counts);
    if (!minute.first && minute.counts.judged > 0) minute.first = at;
  }
}

void OverheadFold::Count(const HostSigns& signs, std::size_t row, Node& node,
                         LaunchCounts& counts) const {
  const Cause shown = signs.Shown(row, node.seldom, core_);
  double idle = 0, gpus = 0;
  for (const Column* gpu : signs.gpus()) {
    if (!gpu->Has(row)) continue;
    ++gpus;
    if (gpu->At(row) < kGpuBusy) idle += 1 - std::clamp(gpu->At(row) / 100, 0.0, 1.0);
  }
  if (gpus == 0 || !signs.HasThread(row)) return;
  ++counts.judged;
  if (idle == 0) return;
  if (shown == Cause::kFrameworkOverhead) {
    ++counts.launching;
    counts.lost += idle / gpus;
  } else if (shown != Cause::kRawInput && shown != Cause::kStorage) {
    ++counts.unexplained;
  }
}

void OverheadFold::Add(const LaunchMinute& minute, Node& node) const {
  if (minute.steps.steps() > 0) node.newest = minute.steps;
  if (node.newest.steps() == 0) {
    node.unjudged += minute.counts.judged;
    return;
  }
  LaunchCounts counts = minute.counts;
  if (!MostlyComputes(node.newest)) counts = {.judged = counts.judged};
  node.all.Add(counts);
  node.recent.Add(counts);
  if (!node.first) node.first = minute.first;
}

// All nodes are counted before any is judged, and a minute with too few samples is judged with the
// next. So when all together are above the threshold for the first time, at least one node is.
void OverheadFold::Close(Time from, const LaunchMinutes& minutes) {
  for (const auto& [name, minute] : minutes.nodes) Add(minute, nodes_[name]);
  const LaunchCounts total = Total();
  if (total.judged < kLeastJudged) return;
  if (!fired_ && total.Share(total.launching) > threshold_) {
    fired_ = from + MinuteBuckets<LaunchMinutes>::kLength;
  }
  active_ = false;
  for (auto& [name, node] : nodes_) {
    if (fired_ && node.recent.Share(node.recent.launching) > threshold_) Trigger(name, node, from);
    node.recent = {};
    node.first.reset();
  }
}

void OverheadFold::Trigger(const std::string& name, Node& node, Time from) {
  const bool joins = node.until == from;
  node.until = from + MinuteBuckets<LaunchMinutes>::kLength;
  active_ = true;
  findings_.Trigger({name, ""}, joins ? from : *node.first, *node.until,
                    Describe("on node " + name, node.recent),
                    {{"judged", node.recent.judged}, {"launching", node.recent.launching}});
}

void OverheadFold::Scan(Time at) {
  windows_.Close(at, [this](Time from, const LaunchMinutes& minutes) { Close(from, minutes); });
}

LaunchCounts OverheadFold::Total() const {
  LaunchCounts total{.nodes = 0};
  for (const auto& [name, node] : nodes_) {
    total.Add(node.all);
    total.nodes += node.all.judged > 0 ? 1 : 0;
  }
  return total;
}

std::string OverheadFold::Describe(const std::string& where, const LaunchCounts& counts) const {
  return Format(
      "A GPU {} was below {:g} % while a training thread used more than {:g} % of a core, without "
      "waits for data or I/O, in {:.1f} % of {}; the threshold is {:g} %.",
      where, kGpuBusy, core_, counts.Share(counts.launching) * 100,
      SamplesText(counts.judged, facts_.interval, counts.nodes), threshold_ * 100);
}

std::string OverheadFold::Unjudged() const {
  if (facts_.Gpus() == 0 && !facts_.nodes.empty()) return "no GPU on any node";
  std::int64_t unjudged = 0;
  bool over = false;
  for (const auto& [name, node] : nodes_) {
    unjudged += node.unjudged;
    over = over || start_.IsOver(name);
  }
  if (unjudged > 0) {
    return "no steps reported: whether a busy training thread launches work or loads data is not "
           "known";
  }
  if (!over) return start_.Reason();
  const std::int64_t judged = Total().judged;
  return judged > 0 ? Format("{} of {} judged samples seen", judged, kLeastJudged)
                    : "no whole minute has samples of a GPU's use and a training thread's";
}

Json OverheadFold::Evidence() const {
  const LaunchCounts total = Total();
  Json nodes = Json::array();
  for (const auto& [name, node] : nodes_) {
    if (nodes.size() == kMostShown) break;
    nodes.push_back({{"node", name},
                     {"judged", node.all.judged},
                     {"launching", node.all.launching},
                     {"unexplained", node.all.unexplained}});
  }
  return {{"judged", total.judged},
          {"launching", total.launching},
          {"unexplained", total.unexplained},
          {"findings_left_out", findings_.left_out()},
          {"nodes", std::move(nodes)}};
}

StepSums OverheadFold::NewestSteps() const {
  StepSums sums;
  for (const auto& [name, node] : nodes_) sums.Add(node.newest);
  return sums;
}

Verdict OverheadFold::Judge() const {
  const LaunchCounts total = Total();
  if (total.judged < kLeastJudged) return Unknown(Unjudged());
  Verdict verdict;
  verdict.evidence = Evidence();
  const WindowEvidence windows = SumWindows(facts_.windows, MeanStepSeconds(NewestSteps()));
  const bool traced = windows.any() && windows.sum.of_device;
  if (traced) verdict.evidence["windows"] = ToJson(windows);
  if (!fired_ && total.Share(total.unexplained) > threshold_) {
    if (traced) return JudgeLaunches(windows, threshold_, std::move(verdict));
    verdict.sentence = Format(
        "a GPU was below {:g} % in {:.1f} % of {} and the host shows no reason: whether it waited "
        "for launches only an operator trace can tell",
        kGpuBusy, total.Share(total.unexplained) * 100,
        SamplesText(total.judged, facts_.interval, total.nodes));
    return verdict;
  }
  verdict.kind = fired_ ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe("of the job", total);
  if (traced) verdict.sentence += " " + SentenceOf(windows);
  if (!fired_) return verdict;
  verdict.share = total.Share(total.launching);
  verdict.fired = fired_;
  verdict.active = active_;
  verdict.severity = SeverityOfLoss(total.lost / static_cast<double>(total.judged));
  if (!active_) verdict.sentence += " The newest minute is not above it.";
  return verdict;
}

}  // namespace

RuleType FrameworkOverhead() {
  return {
      .name = "FrameworkOverhead",
      .sentence = "GPUs wait for the training thread, which cannot launch work fast enough.",
      .fires =
          "In more than threshold of the samples a GPU is below 70 % while a training thread uses "
          "more than core of one CPU core, and neither disks, network nor waits in the steps "
          "explain it. Where GPUs idle and the host shows no reason it goes by windows of "
          "operators "
          "and kernels, if there are any (the share of the time in which GPUs waited for "
          "launches), "
          "and says unknown else.",
      .advice =
          "Compile the model, fuse small operations, use CUDA graphs, raise the batch size, and "
          "read losses and metrics less often.",
      .params = kParams,
      .metrics = HostSigns::Metrics(),
      .steps = StepNeed::kAll,
      .make = MakeFold<OverheadFold>,
  };
}

}  // namespace stepscope
