#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "rules/engine/rule.h"
#include "server/evaluate/feed.h"
#include "server/evaluate/watermark.h"
#include "server/store/rules/rules.h"

namespace stepscope {

// A rule of a job, between load and save.
struct RuleRun {
  const RuleType* rule = nullptr;
  RuleStateRow row;
  Watermark watermark;
  std::unique_ptr<Fold> fold;
  Needs needs;
  bool anew = false;    // it had a state, which did not load
  bool begins = false;  // without a state that loaded
};

// Goes on where the rule's last turn stood. A rule without a state begins at the oldest data that
// is stored; so does one whose state does not load, because another version of the program saved
// it. Such a start is logged; after kMostStartsAnew of them without a state that loads it is an
// error. What a version of the program saved that had another place for it does not count.
Result<RuleRun> StartRun(RuleStateRow row, const JobView& view);
inline constexpr std::int64_t kMostStartsAnew = 3;

// What a rule that begins and compares runs compares the job with: the newest runs before it in its
// group, as this rule saw them; its fold keeps them. Reads nothing for others, nor without a group.
Status KnowEarlierRuns(Connection& connection, const JobView& view, RuleRun& run);

// What StartRun goes on from: the watermark, then the fold.
std::string SaveRun(const RuleRun& run);
// Invalid when it is not what SaveRun gave.
Result<Watermark> WatermarkOf(std::string_view saved);

// The verdict, with the nodes that it was reached without and with what was removed before it was
// seen.
Verdict JudgeRun(const RuleRun& run, const JobView& view);

// New and longer ones since the last call.
std::vector<FindingRow> FindingsOf(RuleRun& run);

}  // namespace stepscope
