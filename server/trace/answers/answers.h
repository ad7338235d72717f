#pragma once

#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "core/trace/trace.h"
#include "server/trace/trace_links.h"
#include "server/trace/trace_parts.h"

namespace stepscope {

// The answers that are computed of every trace when it arrives, and read as they are afterwards: a
// row for each, so that a new one is a file and a row.
using MakeAnswer = OrderedJson (*)(const TraceLinks&);
struct AnswerRow {
  std::string_view name;  // also the part that it is stored as
  std::string_view list;  // the member of the answer that is a list of rows; "" when there is none
  MakeAnswer make;
};
const std::vector<AnswerRow>& TraceAnswers();

// Everything that is stored of a trace: its parts and its answers.
std::vector<TracePart> TakeApart(const Trace& trace);

// What there is to say of a trace without its spans: where it is from, tracks, steps, faults.
OrderedJson SummaryOf(const Trace& trace);

}  // namespace stepscope
