#pragma once

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// What the diagnosis of the job needs of a trace: where the time of its whole steps went, all
// devices together, in the names of rules/engine/window_facts.h. Null where the trace has no step.
OrderedJson EvidenceOf(const TraceLinks& links);

}  // namespace stepscope
