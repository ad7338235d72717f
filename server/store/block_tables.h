#pragma once

#include <span>
#include <vector>

#include "server/store/database.h"
#include "server/store/tick_table.h"

namespace stepscope {

// The tables of an answer's rows: the hash of the schema stands in `column`, behind it its content
// and the payload.
Result<std::vector<TickTable>> DecodeTables(const Rows& rows, std::size_t column,
                                            const TickFilter& filter);

// Those that are there already stay.
Status SaveSchemas(Connection& connection, std::int64_t job_id,
                   std::span<const EncodedTable> tables);

}  // namespace stepscope
