#pragma once

#include <span>
#include <string_view>

#include "core/base/json.h"
#include "core/base/result.h"
#include "rules/engine/rule.h"

namespace stepscope {

// All rules. A new rule is a file, a row of the table in catalog.cpp, and a test.
std::span<const RuleType> Catalog();

// The rule that people make of a metric: its parameters have no defaults, so no job has it unless
// asked for, and a job may have several by different names. It is not part of the catalog.
const RuleType& CustomRule();

// The rule of a name, from the catalog or the custom one. Null when there is no such rule.
const RuleType* FindRule(std::string_view name);

// Whether the name is that of a rule that fires when another rule of the job did.
bool SumsUp(std::string_view name);

// The parameters `given` (an object, or null) with the defaults filled in. Every error names rule,
// parameter, value and range.
Result<Json> CompleteParameters(const RuleType& rule, const Json& given);

}  // namespace stepscope
