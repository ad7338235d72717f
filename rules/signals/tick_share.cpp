#include "rules/signals/tick_share.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "rules/engine/next_check.h"
#include "rules/engine/sentence.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostNodesShown = 64;  // nodes in the evidence

}  // namespace

TickShare::TickShare(const Params& params, const JobFacts& facts, Words words)
    : facts_(facts),
      threshold_(params["threshold"] / 100),
      words_(std::move(words)),
      start_(params.Samples("patience"), facts) {}

TickShare::Counts TickShare::Total(Counts Node::*which) const {
  Counts total{.nodes = 0};
  for (const auto& [name, node] : nodes_) {
    total.nodes += (node.*which).judged > 0 ? 1 : 0;
    total.Add(node.*which);
  }
  return total;
}

void TickShare::Scan(Time at) {
  for (auto& [name, node] : nodes_) {
    const bool stepped = node.behind_to && !training_.IsBehind(*node.behind_to, facts_.interval);
    if (stepped) node.TakeBehind();
  }
  const Counts total = Total(&Node::all), recent = Total(&Node::recent);
  const bool judges = total.judged >= kLeastJudged && recent.judged > 0;
  const bool fires = judges && total.Share() > threshold_;
  const bool counts = !std::exchange(early_, false);
  if (judges && counts) ++scans_;
  if (fires && counts) ++triggers_;
  if (fires && !fired_) fired_ = at;
  active_ = fired_ && recent.Share() > threshold_;
  for (auto& [name, node] : nodes_) {
    if (fired_ && node.recent.Share() > threshold_) Trigger(name, node);
    if (!judges && recent.judged > 0) continue;  // too few: the next scan sees them too
    node.recent = {};
    node.from.reset();
  }
}

Time TickShare::NextCheck(Time at) const {
  const Counts total = Total(&Node::all);
  const auto lacking = TicksToExceed(threshold_, total.bottleneck, total.judged);
  if (fired_ || !lacking || nodes_.empty()) return Time::max();
  const bool judges = Total(&Node::recent).judged > 0;
  const std::int64_t ticks = std::max(
      {*lacking, kLeastLookedAt - total.judged, static_cast<std::int64_t>(judges ? 0 : 1)});
  const auto nodes = static_cast<std::int64_t>(nodes_.size());
  return After(at, (ticks + nodes - 1) / nodes, facts_.interval);
}

// The finding covers the whole stretch: a missing tick does not end it.
void TickShare::Trigger(const std::string& name, Node& node) {
  const Duration gap = 2 * facts_.interval;
  if (!findings_.Joins({name, ""}, *node.from, gap)) node.finding = {};
  node.finding.Add(node.recent);
  findings_.Trigger(
      {name, ""}, *node.from, *node.to, Describe("A GPU of node " + name, node.finding),
      {{"judged", node.finding.judged}, {"bottleneck", node.finding.bottleneck}}, gap);
}

std::string TickShare::Describe(const std::string& who, const Counts& counts) const {
  return Format("{} {} in {:.1f} % of {}; the threshold is {:g} %.", who, words_.condition,
                counts.Share() * 100, SamplesText(counts.judged, facts_.interval, counts.nodes),
                threshold_ * 100);
}

Json TickShare::Evidence() const {
  const Counts total = Total(&Node::all);
  Json nodes = Json::array();
  for (const auto& [name, node] : nodes_) {
    if (nodes.size() == kMostNodesShown) break;
    nodes.push_back(
        {{"node", name}, {"judged", node.all.judged}, {"bottleneck", node.all.bottleneck}});
  }
  Json evidence = {{"judged", total.judged},
                   {"bottleneck", total.bottleneck},
                   {"scans", scans_},
                   {"triggers", triggers_},
                   {"findings_left_out", findings_.left_out()},
                   {"nodes", std::move(nodes)}};
  return evidence;
}

std::string TickShare::Unjudged() const {
  const Counts total = Total(&Node::all);
  const bool over =
      std::ranges::any_of(nodes_, [&](const auto& node) { return start_.IsOver(node.first); });
  if (facts_.Gpus() == 0 && !facts_.nodes.empty() && total.judged == 0) return "no GPU on any node";
  if (!over) return start_.Reason();
  if (total.judged == 0) return Format("no sample has {}", words_.needs);
  return Format("{} of {} judged samples seen", total.judged, kLeastJudged);
}

Verdict TickShare::Judge() const {
  if (scans_ == 0) return Unknown(Unjudged());
  Verdict verdict;
  const Counts total = Total(&Node::all);
  verdict.kind = fired_ ? VerdictKind::kFinding : VerdictKind::kClear;
  verdict.sentence = Describe("A GPU", total);
  if (fired_) {
    verdict.share = total.Share();
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

}  // namespace stepscope
