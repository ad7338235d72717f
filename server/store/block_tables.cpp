#include "server/store/block_tables.h"

#include <map>
#include <set>

#include "server/store/stored_frames.h"
#include "server/store/streams.h"

namespace stepscope {

Result<std::vector<TickTable>> DecodeTables(Connection& connection, std::int64_t job_id,
                                            const Rows& rows, std::size_t column,
                                            const TickFilter& filter) {
  std::set<std::int64_t> hashes;
  for (std::size_t i = 0; i < rows.size(); ++i) hashes.insert(rows.Int(i, column));
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, hashes);
  if (!schemas) return schemas.error();
  std::vector<TickTable> tables;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const auto schema = schemas->find(rows.Int(i, column));
    if (schema == schemas->end()) return Internal("block: its schema is gone");
    Result<TickTable> table = DecodeTicks(rows.BytesView(i, column + 1), schema->second, filter);
    if (!table) return table.error();
    tables.push_back(std::move(*table));
  }
  return tables;
}

Status SaveSchemas(Connection& connection, std::int64_t job_id,
                   std::span<const EncodedTable> tables) {
  std::map<std::int64_t, NewSchema> schemas;
  for (const EncodedTable& table : tables) {
    schemas[table.schema_hash] = {job_id, table.schema_hash, table.schema};
  }
  std::vector<NewSchema> rows;
  for (const auto& [hash, schema] : schemas) rows.push_back(schema);
  return InsertSchemas(connection, rows);
}

}  // namespace stepscope
