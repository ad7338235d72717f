#pragma once

#include <span>

#include "core/base/json.h"
#include "server/store/rules.h"

namespace stepscope {

// The rule of a job that sums up the others; null when the job was not given it.
const RuleStateRow* FindReport(std::span<const RuleStateRow> states);

// One row of a budget, without the rules that support it.
OrderedJson CauseInShort(const Json& cause);

// Where the time went, as describe-job shows it: null while there is nothing to divide up.
OrderedJson DiagnosisInShort(std::span<const RuleStateRow> states);

}  // namespace stepscope
