#include "server/store/ticks/block_tables.h"

#include "core/wire/frame.h"
#include "server/store/frames/streams.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {

Result<TickTable> RowTables::Decode(std::size_t row) {
  const auto [schema, fresh] = schemas_.try_emplace(rows_.Int(row, column_));
  if (fresh) {
    Result<Schema> decoded = DecodeSchema(rows_.BytesView(row, column_ + 1));
    if (!decoded) return Internal("block: its schema: " + decoded.error().message);
    schema->second = std::move(*decoded);
  }
  return DecodeTicks(rows_.BytesView(row, column_ + 2), schema->second, filter_, budget_);
}

Result<std::vector<TickTable>> DecodeTables(const Rows& rows, std::size_t column,
                                            const TickFilter& filter, ValueBudget* budget) {
  RowTables decoder(rows, column, filter, budget);
  std::vector<TickTable> tables;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    Result<TickTable> table = decoder.Decode(i);
    if (!table) return table.error();
    tables.push_back(std::move(*table));
  }
  return tables;
}

std::size_t DecodedBytes(const Rows& rows, std::size_t column) {
  constexpr std::size_t kColumn = 200, kCell = 9;
  std::size_t bytes = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const Result<TableSize> size = ReadTableSize(rows.BytesView(i, column));
    if (size)
      bytes += size->columns *
               (kColumn + size->rows * kCell);  // a broken table fails later, where it is decoded
  }
  return bytes;
}

Status SaveSchemas(Connection& connection, std::int64_t job_id,
                   std::span<const EncodedTable> tables) {
  std::map<std::int64_t, NewSchema> schemas;
  for (const EncodedTable& table : tables) {
    schemas[table.schema_hash] = {job_id, table.schema_hash, table.schema};
  }
  std::vector<NewSchema> rows;
  for (const auto& [hash, schema] : schemas) rows.push_back(schema);
  return rows.empty() ? Status() : Done(connection.QueryByKey(InsertSchemas(rows)));
}

}  // namespace stepscope
