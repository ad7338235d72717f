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
  bool anew = false;    // there was a state, but it did not load
  bool begins = false;  // no state was loaded
};

// Continues after the rule's last turn. A rule without a state begins at the oldest stored data; so
// does a rule whose state does not load, because another version of the program saved it. Such a
// start is logged; kMostStartsAnew starts without a state that loads are an error. A state that an
// older version saved in other columns does not count as a start.
Result<RuleRun> StartRun(RuleStateRow row, const JobView& view);
inline constexpr std::int64_t kMostStartsAnew = 3;

// Gives a rule that compares runs, when it begins, the newest earlier runs of the job's group, as
// this rule measured them; its fold keeps them. Reads nothing for other rules, nor without a group.
Status KnowEarlierRuns(Connection& connection, const JobView& view, RuleRun& run);

// The state from which StartRun continues: the watermark, then the fold.
std::string SaveRun(const RuleRun& run);
// Invalid when the bytes are not from SaveRun.
Result<Watermark> WatermarkOf(std::string_view saved);

// The verdict, with the nodes that are left out and with the time until which samples were removed
// unseen.
Verdict JudgeRun(const RuleRun& run, const JobView& view);

// Findings that are new or longer since the last call.
std::vector<FindingRow> FindingsOf(RuleRun& run);

}  // namespace stepscope
