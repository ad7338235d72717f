#pragma once

#include <string_view>
#include <vector>

#include "core/model/table.h"
#include "rules/engine/rule.h"

namespace stepscope {

// An hour of a job on one node with 8 GPUs, 16 cores and a rank for each GPU, sampled every 500 ms:
// the part that a rule with these metrics and this need of steps is shown. It can be moved to later
// hours as often as wanted, so that a job may have any age.
class TrainingHour {
 public:
  static constexpr Duration kScan = 60s;

  explicit TrainingHour(const RuleType& rule);

  static JobFacts Facts();

  // Moves the hour to `from` after the start of the job.
  void MoveTo(Duration from);
  // Shows the data of [from, from + length) in the time of the job, steps first; within this hour.
  void Show(Duration from, Duration length, Fold& fold) const;
  // Shows the whole hour, with its scans.
  void ShowAll(Fold& fold) const;

  std::size_t samples() const { return at_us_.size() * series_.size(); }
  std::size_t steps() const;  // 0 for a rule that is shown only the first steps

 private:
  Duration begin_{};  // begin of the hour that is shown now
  std::vector<std::int64_t> at_us_;
  std::vector<SeriesName> series_;
  std::vector<Column> columns_;
  std::vector<std::vector<Step>> steps_;  // by rank
  Duration steps_until_{};                // a rule that needs the first steps is shown no others
};

}  // namespace stepscope
