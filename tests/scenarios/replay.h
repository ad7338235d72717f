#pragma once

// Shows a job to a rule as an evaluator would: in slices, with the state saved and loaded between
// them.

#include <algorithm>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "core/base/text.h"
#include "rules/catalog/catalog.h"
#include "rules/engine/next_check.h"
#include "tests/scenarios/scenario.h"

namespace stepscope::scenarios {

struct Outcome {
  Verdict verdict;
  std::vector<Finding> findings;  // by number
};

// A whole outcome as text, to compare two.
inline std::string ToText(const Outcome& outcome) {
  const Verdict& verdict = outcome.verdict;
  std::string text =
      Format("{} '{}' share {} {} active {} fired {}\n{}\n", ToText(verdict.kind), verdict.sentence,
             verdict.share, ToText(verdict.severity), verdict.active,
             verdict.fired ? ToMicros(*verdict.fired) : 0, Dump(verdict.evidence));
  std::vector<std::string> lines;  // numbers are given in the order of arrival
  for (const Finding& finding : outcome.findings) {
    lines.push_back(Format("{} {} {} {}..{} '{}' {}\n", finding.subject.node,
                           finding.subject.device, finding.subject.rank, ToMicros(finding.from),
                           ToMicros(finding.to), finding.sentence, Dump(finding.evidence)));
  }
  std::ranges::sort(lines);
  for (const std::string& line : lines) text += line;
  return text;
}

class Replay {
 public:
  // Without a seed all data between two scans comes in one slice.
  Replay(const RuleType& rule, const Job& job, const Json& parameters,
         std::optional<std::uint64_t> seed = {})
      : rule_(rule), job_(job), seed_(seed), random_(seed.value_or(0)) {
    auto params = Params::Read(rule.name, rule.params, parameters, job.facts.interval);
    params_ = std::move(*params);
    needs_ = NeedsOf(rule_, params_);
    fold_ = rule_.make(params_, job_.facts);
    now_ = job.origin;
    ticks_.resize(job.nodes.size());
    steps_.resize(job.ranks.size());
  }

  Outcome Run() {
    Time last = job_.origin;
    for (const NodeTicks& node : job_.nodes) {
      if (!node.at_us.empty()) last = std::max(last, FromMicros(node.at_us.back()));
    }
    for (Time scan = job_.origin + kScan; scan <= last; scan += kScan) {
      if (scan > job_.origin + kScan) LookUntil(scan);
      FeedUntil(scan);
      fold_->Scan(scan);
      Keep();
    }
    FeedUntil(last + 1us);
    FeedSteps(Time::max());
    fold_->Scan(last + 1us);
    Keep();
    Outcome outcome{stepscope::Judge(rule_, *fold_), {}};
    for (auto& [number, finding] : findings_) outcome.findings.push_back(finding);
    return outcome;
  }

  // The time of the end of the run.
  const std::string& state() const { return state_; }
  std::unique_ptr<Fold> NewFold() const { return rule_.make(params_, job_.facts); }

 private:
  static constexpr Duration kScan = 60s;

  void LookUntil(Time scan) {
    auto look = NextCheck(*fold_, job_.origin, scan - kScan, scan);
    while (look) {
      FeedUntil(*look);
      bool fresh = true;
      look = CheckFold(*fold_, fresh, job_.origin, *look, scan);
      Keep();
    }
  }

  // Shows data in random slices when there is a seed; steps that ended come before later ticks.
  void FeedUntil(Time end) {
    for (Time now = now_; now < end;) {
      now = seed_ ? std::min(end, now + Duration(static_cast<std::int64_t>(
                                            std::exponential_distribution(1.0)(random_) * 2e10)))
                  : end;
      FeedSteps(now);
      FeedTicks(now);
      if (seed_ && random_() % 3 == 0) Keep();
    }
    now_ = end;
  }

  std::vector<std::size_t> Order(std::size_t count) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    if (seed_) std::ranges::shuffle(order, random_);
    return order;
  }

  void FeedSteps(Time end) {
    if (needs_.steps == StepNeed::kNone) return;
    for (const std::size_t i : Order(job_.ranks.size())) {
      const RankSteps& rank = job_.ranks[i];
      const std::size_t from = steps_[i];
      while (steps_[i] < rank.steps.size() &&
             rank.steps[steps_[i]].start + rank.steps[steps_[i]].wall <= end) {
        ++steps_[i];
      }
      fold_->Observe(
          StepView{rank.rank, rank.node, std::span(rank.steps).subspan(from, steps_[i] - from)});
    }
  }

  void FeedTicks(Time end) {
    if (needs_.metrics.empty()) return;
    for (const std::size_t i : Order(job_.nodes.size())) {
      const NodeTicks& node = job_.nodes[i];
      TickView view{node.node, node.at_us, node.series, node.columns, ticks_[i], ticks_[i]};
      while (view.end < node.at_us.size() && view.At(view.end) < end) ++view.end;
      ticks_[i] = view.end;
      fold_->Observe(view);
    }
  }

  // Saves the fold, and loads the state into a new one.
  void Keep() {
    for (Finding& finding : fold_->TakeFindings()) findings_[finding.number] = finding;
    state_ = fold_->Save();
    fold_ = NewFold();
    const Status loaded = fold_->Load(state_);
    if (!loaded.ok()) findings_[-1] = {-1, {}, {}, {}, loaded.error().message, {}};
  }

  const RuleType& rule_;
  const Job& job_;
  std::optional<std::uint64_t> seed_;
  std::mt19937_64 random_;
  Params params_;
  Needs needs_;
  std::unique_ptr<Fold> fold_;
  std::vector<std::size_t> ticks_, steps_;  // ticks and steps shown so far
  std::map<std::int64_t, Finding> findings_;
  Time now_{};
  std::string state_;
};

inline Outcome Judge(std::string_view rule, const Job& job, const Json& parameters = {},
                     std::optional<std::uint64_t> seed = {}) {
  return Replay(*FindRule(rule), job, parameters, seed).Run();
}

}  // namespace stepscope::scenarios
