#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "server/store/postgres/database.h"
#include "server/store/ticks/tick_table.h"

namespace stepscope {

// Decodes the tables of an answer's rows one by one: `column` holds the hash of the schema, and the
// next two the schema's content and the payload. A schema is decoded once. Not for several threads
// at once.
class RowTables {
 public:
  RowTables(const Rows& rows, std::size_t column, const TickFilter& filter,
            ValueBudget* budget = nullptr)
      : rows_(rows), column_(column), filter_(filter), budget_(budget) {}
  Result<TickTable> Decode(std::size_t row);

 private:
  const Rows& rows_;
  const std::size_t column_;
  const TickFilter& filter_;
  ValueBudget* const budget_;
  std::map<std::int64_t, Schema> schemas_;  // by hash
};

// Decodes the tables of all rows.
Result<std::vector<TickTable>> DecodeTables(const Rows& rows, std::size_t column,
                                            const TickFilter& filter,
                                            ValueBudget* budget = nullptr);

// The memory that tables take once they are decoded; their first bytes are in `column`.
std::size_t DecodedBytes(const Rows& rows, std::size_t column);

// Keeps the schemas that exist.
Status SaveSchemas(Connection& connection, std::int64_t job_id,
                   std::span<const EncodedTable> tables);

}  // namespace stepscope
