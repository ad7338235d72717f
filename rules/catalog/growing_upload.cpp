// A node sends in bursts at a steady rhythm, and each is larger than the one before: checkpoints or
// logs that pile up.

#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "core/base/text.h"
#include "rules/engine/sentence.h"
#include "rules/signals/device_fold.h"
#include "rules/signals/send_bursts.h"
#include "rules/stats/columns.h"
#include "rules/stats/line.h"

namespace stepscope {
namespace {

constexpr std::string_view kMetrics[] = {"network_send_bytes_per_second"};
constexpr double kMiB = 1 << 20;  // the unit of charts and reports
constexpr std::size_t kLeastBursts = 6, kMostShown = 64;
constexpr Duration kLeastWatched = 30min;  // after which no burst at all is an answer
// The rhythm is steady when most pauses are near the one in the middle; the bursts grow when nearly
// all pairs of them do, and by more than a fifth in all.
constexpr double kNear = 0.25, kMost = 0.8, kRising = 0.9, kGrowth = 0.2;

// Rhythm and growth of the bursts of a node.
struct BurstRhythm {
  std::size_t bursts = 0;
  double every_s = 0, steady = 0;  // the median pause; part of the pauses that are near it
  Line line;                       // line through the bytes of the bursts

  bool Grows() const {
    return bursts >= kLeastBursts && steady >= kMost && line.rising >= kRising &&
           line.end > std::max(line.start, 0.0) * (1 + kGrowth);
  }
};

BurstRhythm RhythmOf(const std::vector<Burst>& bursts) {
  BurstRhythm rhythm;
  rhythm.bursts = bursts.size();
  if (bursts.size() < 2) return rhythm;
  std::vector<double> pauses;
  std::vector<std::pair<double, double>> sizes;
  for (std::size_t i = 0; i < bursts.size(); ++i) {
    sizes.emplace_back(static_cast<double>(i), bursts[i].bytes);
    if (i == 0) continue;
    pauses.push_back(std::chrono::duration<double>(bursts[i].from - bursts[i - 1].from).count());
  }
  rhythm.every_s = Median(pauses);
  const auto near = std::ranges::count_if(pauses, [&](double pause) {
    return std::abs(pause - rhythm.every_s) <= kNear * rhythm.every_s;
  });
  rhythm.steady = static_cast<double>(near) / static_cast<double>(pauses.size());
  rhythm.line = LineThrough(sizes);
  return rhythm;
}

class UploadFold : public ScannedFold<UploadFold> {
 public:
  explicit UploadFold(const JobFacts& facts) : ScannedFold(0, facts, {"node", "nodes"}) {}

  void Observe(const TickView& ticks) override;
  void Scan(Time at) override;

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state("nodes", nodes_, [this] { return SendBursts(facts_.interval); });
    state("scans", scans_);
  }

 private:
  void ScanNode(const std::string& name, const SendBursts& node);
  std::string Describe(const std::string& name, const BurstRhythm& rhythm) const;
  const std::pair<const std::string, SendBursts>* Worst() const;
  std::string Unjudged() const override;
  std::string WorstText() const override;
  std::string ClearText() const override;
  Json Listed() const override;

  std::map<std::string, SendBursts, std::less<>> nodes_;
};

// The interfaces of a node add up.
void UploadFold::Observe(const TickView& ticks) {
  if (ticks.first == ticks.end) return;
  scans_.Saw(ticks.At(ticks.first));
  const auto columns = ColumnsOf(ticks, kMetrics[0]);
  auto found = nodes_.find(ticks.node);
  if (found == nodes_.end()) {
    found = nodes_.emplace(std::string(ticks.node), SendBursts(facts_.interval)).first;
  }
  for (std::size_t row = ticks.first; row < ticks.end; ++row) {
    const Time at = ticks.At(row);
    const auto tick = start_.Observe(ticks.node, at);
    if (tick == Initialisation::Tick::kNotJudged) continue;
    if (tick == Initialisation::Tick::kFirstAfterStep) found->second = SendBursts(facts_.interval);
    double sum = 0;
    bool known = false;
    for (const DeviceColumn& each : columns) {
      if (!each.Has(row)) continue;
      sum += each.column->At(row);
      known = true;
    }
    if (known) found->second.Add(at, sum);
  }
}

void UploadFold::Scan(Time at) {
  scans_.Begin(at);
  for (auto& [name, node] : nodes_) {
    if (node.TakeFresh()) ScanNode(name, node);
  }
  scans_.End();
}

void UploadFold::ScanNode(const std::string& name, const SendBursts& node) {
  const auto bursts = node.Large();
  if (bursts.empty() && node.watched() >= kLeastWatched) return scans_.Clear({name, ""});
  if (bursts.size() < kLeastBursts) return;
  const BurstRhythm rhythm = RhythmOf(bursts);
  const double silent_s = std::chrono::duration<double>(node.last() - bursts.back().to).count();
  if (!rhythm.Grows() || silent_s > 3 * rhythm.every_s) return scans_.Clear({name, ""});
  scans_.Trigger({.from = bursts.front().from,
                  .to = bursts.back().to,
                  .subject = {name, ""},
                  .sentence = Describe(name, rhythm) + ".",
                  .evidence = {{"bursts", rhythm.bursts},
                               {"every_seconds", rhythm.every_s},
                               {"first_bytes", std::round(rhythm.line.start)},
                               {"last_bytes", std::round(rhythm.line.end)}}},
                 0);
}

std::string UploadFold::Describe(const std::string& name, const BurstRhythm& rhythm) const {
  return Format(
      "Node {} sends a burst every {}: over the last {} from {:.1f} MiB to {:.1f} MiB, {:+.2f} MiB "
      "each; {:.0f} % of the pauses are alike",
      name, LengthText(std::chrono::milliseconds(std::llround(rhythm.every_s * 1000))),
      CountText(static_cast<std::int64_t>(rhythm.bursts), "burst"), rhythm.line.start / kMiB,
      rhythm.line.end / kMiB, rhythm.line.slope / kMiB, rhythm.steady * 100);
}

// The node that fired most often, else the node with the most bursts.
const std::pair<const std::string, SendBursts>* UploadFold::Worst() const {
  const auto order = [this](const auto& node) {
    return std::pair(scans_.Of({node.first, ""}).triggers, node.second.Large().size());
  };
  const std::pair<const std::string, SendBursts>* worst = nullptr;
  for (const auto& node : nodes_) {
    if (worst == nullptr || order(node) > order(*worst)) worst = &node;
  }
  return worst;
}

std::string UploadFold::Unjudged() const {
  const auto* most = Worst();
  if (most == nullptr) return "no samples yet";
  if (most->second.watched() == Duration::zero()) {
    const bool over =
        std::ranges::any_of(nodes_, [&](const auto& node) { return start_.IsOver(node.first); });
    return over ? "no samples of network_send_bytes_per_second" : start_.Reason();
  }
  return Format("{} of {} bursts of sending seen in {}", most->second.Large().size(), kLeastBursts,
                LengthText(most->second.watched()));
}

std::string UploadFold::WorstText() const {
  const auto& [name, node] = *Worst();
  return Describe(name, RhythmOf(node.Large()));
}

std::string UploadFold::ClearText() const {
  const auto& [name, node] = *Worst();
  const BurstRhythm rhythm = RhythmOf(node.Large());
  if (rhythm.bursts >= kLeastBursts) {
    return Describe(name, rhythm) + ": no steady rhythm of bursts that grow.";
  }
  return Format("{} of sending on node {} in {}.",
                CountText(static_cast<std::int64_t>(rhythm.bursts), "burst"), name,
                LengthText(node.watched()));
}

Json UploadFold::Listed() const {
  Json nodes = Json::array();
  for (const auto& [name, node] : nodes_) {
    if (nodes.size() == kMostShown) break;
    nodes.push_back({{"node", name}, {"bursts", node.Large().size()}});
  }
  return nodes;
}

}  // namespace

RuleType GrowingUpload() {
  return {
      .name = "GrowingUpload",
      .sentence = "A node sends in bursts at a steady rhythm, each larger than the one before.",
      .fires =
          "A node sends bursts of data at a steady rhythm, at least six of them, and nearly each "
          "is larger than the one before: by more than a fifth from the first to the last.",
      .advice =
          "Send only what is new: keep fewer checkpoints, upload each file once, rotate logs.",
      .params = {},
      .metrics = kMetrics,
      .steps = StepNeed::kFirst,
      .make = MakeFold<UploadFold>,
  };
}

}  // namespace stepscope
