#pragma once

#include <string_view>
#include <vector>

#include "core/model/table.h"
#include "rules/engine/rule.h"

namespace stepscope {

// An hour of a job on one node with 8 GPUs, 16 cores and a rank for each GPU, sampled every 500 ms:
// what a rule with these metrics and this need of steps is shown of it. Shown again later as often
// as wanted, so that a job may be of any age.
class TrainingHour {
 public:
  static constexpr Duration kScan = 60s;

  explicit TrainingHour(const RuleType& rule);

  static JobFacts Facts();

  // From now on it is the hour that begins so far into the job.
  void MoveTo(Duration from);
  // Everything of [from, from + length) in the life of the job, steps first; within this hour.
  void Show(Duration from, Duration length, Fold& fold) const;
  // All of it, with its scans.
  void ShowAll(Fold& fold) const;

  std::size_t samples() const { return at_us_.size() * series_.size(); }
  std::size_t steps() const;  // 0 for a rule that is shown the first ones only

 private:
  Duration begin_{};  // of the hour that is shown now
  std::vector<std::int64_t> at_us_;
  std::vector<SeriesName> series_;
  std::vector<Column> columns_;
  std::vector<std::vector<Step>> steps_;  // by rank
  Duration steps_until_{};                // a rule that needs the first ones is shown no others
};

}  // namespace stepscope
