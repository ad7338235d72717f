#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "rules/engine/finding_track.h"
#include "rules/engine/state.h"
#include "rules/signals/initialisation.h"
#include "rules/signals/training_time.h"

namespace stepscope {

// A rule that counts the ticks of a node in which its condition holds, and fires when they are more
// than the parameter `threshold` of all judged ticks. The rule gives the condition in Observe, by
// Count. Its parameters `threshold` and `patience` are read here.
class TickShare : public FieldsFold<TickShare> {
 public:
  struct Words {
    std::string condition;   // said of a GPU: "was below 10 % while a core was above 90 %"
    std::string_view needs;  // metrics that a tick must have to be judged
  };
  // A share of fewer ticks means nothing.
  static constexpr std::int64_t kLeastJudged = 60;
  // An early trigger needs more ticks, so that the first seconds after the initialisation are not
  // enough.
  static constexpr std::int64_t kLeastLookedAt = 120;

  TickShare(const Params& params, const JobFacts& facts, Words words);

  using Fold::Observe;
  void Observe(const StepView& steps) override {
    start_.Observe(steps);
    training_.Observe(steps);
  }
  void Scan(Time at) override;
  Time NextCheck(Time at) const override;
  void ScanEarly(Time at) override {
    Scan(at);
    early_ = true;
  }
  Verdict Judge() const override;
  std::vector<Finding> TakeFindings() override { return findings_.Take(); }

  template <typename State>
  void Fields(State& state) {
    state("start", start_);
    state.Added("training", training_);
    state("findings", findings_);
    state("nodes", nodes_, [] { return Node(); });
    state("scans", scans_);
    state("triggers", triggers_);
    state("fired", fired_);
    state("active", active_);
    state("early", early_);
  }

 protected:
  // `lost_part` gives, for a row of the ticks, the part of the node's GPUs that idle because of the
  // rule's condition: 0 when it does not hold, none when the tick lacks a metric.
  template <typename LostPart>
  void Count(const TickView& ticks, LostPart&& lost_part) {
    Node& node = nodes_[std::string(ticks.node)];
    for (std::size_t row = ticks.first; row < ticks.end; ++row) {
      const Time at = ticks.At(row);
      if (start_.Observe(ticks.node, at) == Initialisation::Tick::kNotJudged) continue;
      const std::optional<double> lost = lost_part(row);
      if (!lost) continue;
      const bool behind = training_.IsBehind(at, facts_.interval);
      if (!behind) node.TakeBehind();
      node.Add(at, *lost, behind);
    }
  }

 private:
  struct Counts {
    std::int64_t judged = 0, bottleneck = 0;
    std::size_t nodes = 1;  // number of nodes that were added up

    double Share() const {
      return judged == 0 ? 0 : static_cast<double>(bottleneck) / static_cast<double>(judged);
    }
    void Add(const Counts& other) {
      judged += other.judged;
      bottleneck += other.bottleneck;
    }
    template <typename State>
    void Fields(State& state) {
      state("judged", judged);
      state("bottleneck", bottleneck);
    }
  };
  struct Node {
    Counts all, recent, finding;   // counts of the job; since the last scan; of the newest finding
    std::optional<Time> from, to;  // first and last judged tick since the last scan
    double lost = 0;               // parts of its GPUs that idled in bottlenecks, summed over ticks
    // Ticks after the newest step, which are judged once another one has ended.
    Counts behind;
    std::optional<Time> behind_from, behind_to;
    double behind_lost = 0;

    void Add(Time at, double lost_now, bool is_behind) {
      const Counts one{.judged = 1, .bottleneck = lost_now > 0 ? 1 : 0};
      (is_behind ? behind_lost : lost) += lost_now;
      auto& first = is_behind ? behind_from : from;
      if (!first) first = at;
      (is_behind ? behind_to : to) = at;
      if (is_behind) return behind.Add(one);
      all.Add(one);
      recent.Add(one);
    }
    void TakeBehind() {
      if (!behind_from) return;
      all.Add(behind);
      recent.Add(behind);
      lost += std::exchange(behind_lost, 0);
      from = std::min(from.value_or(*behind_from), *behind_from);
      to = std::max(to.value_or(*behind_to), *behind_to);
      behind = {};
      behind_from.reset(), behind_to.reset();
    }
    template <typename State>
    void Fields(State& state) {
      state("all", all);
      state("recent", recent);
      state("finding", finding);
      state("from", from);
      state("to", to);
      state.Added("behind", behind);
      state.Added("behind_from", behind_from);
      state.Added("behind_to", behind_to);
      state.Added("behind_lost", behind_lost);
      state("lost", lost);
    }
  };

  void Trigger(const std::string& name, Node& node);
  Counts Total(Counts Node::*which) const;
  std::string Describe(const std::string& who, const Counts& counts) const;
  std::string Unjudged() const;
  Json Evidence() const;

  JobFacts facts_;
  double threshold_;
  Words words_;

  Initialisation start_;
  TrainingTime training_;
  FindingTrack findings_;
  std::map<std::string, Node, std::less<>> nodes_;
  std::int64_t scans_ = 0, triggers_ = 0;  // judged scans; scans in which the share was above
  std::optional<Time> fired_;
  bool active_ = false;
  bool early_ = false;  // the last scan was early: the next one is counted already
};

}  // namespace stepscope
