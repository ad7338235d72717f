// Far fewer, or far more, data-loader workers than the node has cores.

#include <algorithm>
#include <map>
#include <utility>

#include "core/base/text.h"
#include "rules/engine/finding_track.h"
#include "rules/engine/sentence.h"
#include "rules/engine/state.h"
#include "rules/signals/step_sums.h"

namespace stepscope {
namespace {

constexpr Param kParams[] = {
    {.name = "min_threshold",
     .fallback = 70,
     .least = 0,
     .most = 100'000,
     .unit = "%",
     .help = "Fewer workers than this share of the cores are few; not above max_threshold.",
     .not_above = "max_threshold"},
    {"max_threshold", 200, 0, 100'000, "%", "More workers than this share of the cores are many."},
    {"strict", 0, 0, 1, "",
     "1: the numbers alone decide; 0: a job that hardly waits for batches has no issue."},
};
// Below this share of the step time a job hardly waits: more workers would bring it nothing.
constexpr double kLeastWaits = 0.05;
constexpr std::int64_t kLeastLoads = 11;

// The data loaders of a node.
struct NodeLoaders {
  std::int64_t workers = 0;
  int cores = 0;
  bool known = false, pinned = true, prefetches = true;

  double Percent() const { return static_cast<double>(workers) / cores * 100; }
};

struct Loads {
  std::string node;
  bool begun = false;      // its first step, which starts workers and compiles, was left out
  StepSums sums;           // sums of the steps after the first
  std::int64_t loads = 0;  // steps that waited for a batch
  double longest_s = 0;    // the longest wait, which alone is no reason
  // End of the load from which on the rank is judged, of the step at which it had waited for long,
  // and of the newest one.
  std::optional<Time> judged, waited, last;

  template <typename State>
  void Fields(State& state) {
    state("node", node);
    state.Added("begun", begun);
    state("sums", sums);
    state("loads", loads);
    state.Added("longest_s", longest_s);
    state.Dropped("first_s", 0.0);
    state.Added("waited", waited);
    state("judged", judged);
    state("last", last);
  }

  void Add(const Step& step);
  // The part of the step time that was waited for batches, one long wait and the first step apart.
  double Waits() const {
    const double wait_s = ToSeconds(sums.phase(Phase::kData)) - longest_s;
    const double wall_s = ToSeconds(sums.wall()) - longest_s;
    return wall_s > 1e-9 ? std::max(0.0, wait_s) / wall_s : 0;
  }
};

void Loads::Add(const Step& step) {
  const bool first = !std::exchange(begun, true);
  if (!first) sums.Add(step);
  last = EndedAt(step);
  const Duration wait =
      std::clamp(step.phase(Phase::kData), Duration::zero(), std::max(step.wall, Duration::zero()));
  if (!first) longest_s = std::max(longest_s, ToSeconds(wait));
  if (wait > Duration::zero() && ++loads == kLeastLoads) judged = last;
  if (judged && !waited && Waits() >= kLeastWaits) waited = last;
}

class LoaderFold : public FieldsFold<LoaderFold> {
 public:
  LoaderFold(const Params& params, const JobFacts& facts)
      : facts_(facts),
        least_(params["min_threshold"]),
        most_(params["max_threshold"]),
        strict_(params["strict"] > 0.5) {}

  void Observe(const StepView& steps) override;
  Verdict Judge() const override;
  void Scan(Time at) override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("findings", findings_);
    state("told", told_);
    state("ranks", ranks_, [] { return Loads(); });
  }

 private:
  std::map<std::string, NodeLoaders> Nodes() const;
  std::optional<Time> Judged() const;
  bool IsOutside(const NodeLoaders& node) const {
    return node.Percent() < least_ || node.Percent() > most_;
  }
  // When a rank of the node became an issue; none while no rank is one.
  std::optional<Time> Since(const std::string& name) const;
  std::string Describe(const std::string& name, const NodeLoaders& node, double waits) const;
  std::string Advice(const NodeLoaders& node) const;
  void Trigger(const std::string& name, const NodeLoaders& node, double waits);

  JobFacts facts_;
  double least_, most_;
  bool strict_;

  FindingTrack findings_;
  std::optional<Time> told_;  // end of the findings so far, up to the newest step
  std::map<int, Loads, std::less<>> ranks_;
};

void LoaderFold::Observe(const StepView& steps) {
  for (const Step& step : steps.steps) {
    Loads& rank = ranks_[steps.rank];
    if (rank.node.empty()) rank.node = steps.node;
    rank.Add(step);
  }
}

// A process that loads its batches itself counts as one worker.
std::map<std::string, NodeLoaders> LoaderFold::Nodes() const {
  std::map<std::string, NodeLoaders> nodes;
  for (const NodeFacts& node : facts_.nodes) nodes[node.name].cores = node.Usable();
  for (const RankFacts& rank : facts_.ranks) {
    if (!rank.loader_workers) continue;
    NodeLoaders& node = nodes[rank.node];
    node.known = true;
    node.workers += std::max<std::int64_t>(*rank.loader_workers, 1);
    node.pinned = node.pinned && rank.pin_memory.value_or(true);
    node.prefetches = node.prefetches && *rank.loader_workers > 0;
  }
  std::erase_if(nodes,
                [](const auto& node) { return !node.second.known || node.second.cores == 0; });
  return nodes;
}

std::string LoaderFold::Advice(const NodeLoaders& node) const {
  std::string advice = node.Percent() < least_
                           ? "Use more loader workers (num_workers), up to the node's cores."
                           : "Use fewer loader workers: they compete for the cores.";
  if (!node.prefetches) advice += " Without workers no batch is fetched ahead (prefetch_factor).";
  if (!node.pinned && facts_.Gpus() > 0) {
    advice += " Set pin_memory, so that batches are copied to the GPU while it computes.";
  }
  return advice;
}

std::string LoaderFold::Describe(const std::string& name, const NodeLoaders& node,
                                 double waits) const {
  return Format(
      "Node {} has {} for {} ({:.0f} %); the range is {:g} to {:g} %. {:.1f} % of the step "
      "time after the first step was waited for batches.",
      name, CountText(node.workers, "loader worker"), CountText(node.cores, "core"), node.Percent(),
      least_, most_, waits * 100);
}

// A finding for each node outside of the range. Loaders stay the same for the whole job, so it
// lasts from the load from which on the node is judged to the newest step.
void LoaderFold::Scan(Time) {
  StepSums all;
  std::optional<Time> last;
  for (const auto& [number, rank] : ranks_) {
    all.Add(rank.sums);
    if (rank.last) last = std::max(last.value_or(*rank.last), *rank.last);
  }
  if (!Judged() || last == told_) return;
  told_ = last;
  for (const auto& [name, node] : Nodes()) {
    if (IsOutside(node) && Since(name)) Trigger(name, node, all.Share(Phase::kData));
  }
}

void LoaderFold::Trigger(const std::string& name, const NodeLoaders& node, double waits) {
  std::optional<Time> to;
  for (const auto& [number, rank] : ranks_) {
    if (rank.node == name && rank.last) to = std::max(to.value_or(*rank.last), *rank.last);
  }
  findings_.Trigger(
      {name, ""}, *Since(name), to.value_or(*told_), Describe(name, node, waits),
      {{"workers", node.workers}, {"cores", node.cores}, {"percent", node.Percent()}});
}

std::optional<Time> LoaderFold::Since(const std::string& name) const {
  std::optional<Time> since;
  bool has_ranks = false;
  for (const auto& [number, rank] : ranks_) {
    if (rank.node != name) continue;
    has_ranks = true;
    const bool waits = rank.Waits() >= kLeastWaits;  // in all of its steps so far
    const auto each = strict_ ? rank.judged : waits ? rank.waited : std::nullopt;
    if (each) since = std::min(since.value_or(*each), *each);
  }
  return has_ranks || !strict_ ? since : Judged();
}

// The time at which the first rank had loaded enough.
std::optional<Time> LoaderFold::Judged() const {
  std::optional<Time> judged;
  for (const auto& [number, rank] : ranks_) {
    if (rank.judged) judged = std::min(judged.value_or(*rank.judged), *rank.judged);
  }
  return judged;
}

Verdict LoaderFold::Judge() const {
  StepSums all;
  std::int64_t loads = 0;
  for (const auto& [number, rank] : ranks_) {
    all.Add(rank.sums);
    loads = std::max(loads, rank.loads);
  }
  const auto nodes = Nodes();
  if (ranks_.empty()) return Unknown("no steps reported");
  if (loads < kLeastLoads) return Unknown(Format("{} of {} loads seen", loads, kLeastLoads));
  if (nodes.empty()) return Unknown("no data loader told its settings");
  const auto far = [&](const auto& node) {
    const double percent = node.second.Percent();
    return std::pair(IsOutside(node.second) && Since(node.first),
                     std::max(least_ / std::max(percent, 1e-9), percent / std::max(most_, 1e-9)));
  };
  const auto& [name, node] = *std::ranges::max_element(nodes, {}, far);
  const bool fires = IsOutside(node) && Since(name);
  Verdict verdict;
  verdict.kind = fires ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe(name, node, all.Share(Phase::kData));
  Json rows = Json::array();
  for (const auto& [other, each] : nodes) {
    if (rows.size() == 64) break;
    rows.push_back({{"node", other},
                    {"workers", each.workers},
                    {"cores", each.cores},
                    {"percent", each.Percent()},
                    {"pin_memory", each.pinned}});
  }
  verdict.evidence = {{"nodes", std::move(rows)},
                      {"loads", loads},
                      {"data_wait_percent", all.Share(Phase::kData) * 100}};
  if (!fires && IsOutside(node)) {
    verdict.severity = Severity::kLow;
    verdict.sentence += " The job hardly waits: nothing to do.";
  }
  if (!fires) return verdict;
  verdict.fired = Since(name);
  verdict.share = 1;
  verdict.active = true;
  verdict.severity = SeverityOfLoss(all.Share(Phase::kData));
  verdict.evidence["advice"] = Advice(node);
  return verdict;
}

}  // namespace

RuleType Dataloader() {
  return {
      .name = "Dataloader",
      .sentence = "Far fewer, or far more, data-loader workers than the node has cores.",
      .fires =
          "The loader workers of a node's ranks are fewer than min_threshold or more than "
          "max_threshold of the cores that the job may use there, and a rank of it waits for "
          "batches "
          "for 5 % of the time of all its steps or more. A rank without workers counts as one; 11 "
          "batches must "
          "have been loaded. Where hardly anything waits it is clear, with low severity; strict "
          "leaves that condition out.",
      .advice =
          "Change the number of loader workers towards the number of cores (num_workers), let them "
          "fetch ahead (prefetch_factor), and pin their memory (pin_memory).",
      .params = kParams,
      .metrics = {},
      .steps = StepNeed::kAll,
      .make = MakeFold<LoaderFold>,
      .ends_as_the_whole = true,
  };
}

}  // namespace stepscope
