#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "server/ingest/checked_push.h"
#include "server/store/span_blocks.h"

namespace stepscope {

// Why a table of spans is not stored; "" where it is, and for tables of other kinds. Spans are of a
// window that was asked for and of its steps, and no more than a window may have together with
// those that are `pending` in this transaction.
Result<std::string> FaultOfSpans(Connection& connection, std::int64_t job_id,
                                 const TableFrame& table, std::span<const NewSpanBlock> pending);

}  // namespace stepscope
