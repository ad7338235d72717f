#include "server/store/ticks/blocks.h"

#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"
#include "server/store/ticks/block_tables.h"

namespace stepscope {
namespace {

constexpr char kWindows[] = R"(
select window_us, rows
from blocks
where job_id = $1 and node_id = $2 and metric = '' and window_us between $3 and $4
order by window_us
limit 200000)";
constexpr char kLoad[] = R"(
select b.schema_hash, s.content, b.payload
from blocks b
left join schemas s on s.job_id = b.job_id and s.schema_hash = b.schema_hash
where b.job_id = $1 and b.node_id = $2 and b.window_us between $3 and $4
    and b.to_us >= $6
    and (b.metric = '' or cardinality($5::text[]) = 0 or b.metric = any($5::text[]))
order by b.window_us, b.metric
limit 1000000)";
// Locks rows one by one: a join that was planned while the table was empty reads all blocks of the
// node.
constexpr char kLock[] = R"(
select b.window_us, b.metric, b.clock_suspect, b.schema_hash, s.content, b.payload
from (
    select window_us, metric
    from unnest($3::bigint[], $4::text[]) as given (window_us, metric)
    order by window_us, metric) as wanted
cross join lateral (
    select *
    from blocks
    where job_id = $1 and node_id = $2 and window_us = wanted.window_us and metric = wanted.metric
    limit 1
    for update) as b
left join schemas s on s.job_id = $1 and s.schema_hash = b.schema_hash
order by b.window_us, b.metric)";
// Locks one window after the other, by the key: a list of windows would be locked in any order.
constexpr char kLockWindows[] = R"(
select count(*)
from (
    select window_us
    from unnest($3::bigint[]) as given (window_us)
    order by window_us) as wanted
cross join lateral (
    select window_us
    from blocks
    where job_id = $1 and node_id = $2 and window_us = wanted.window_us
    order by metric
    limit 1000000
    for update) as b)";
constexpr char kMeasure[] = R"(
select b.head
from unnest($3::bigint[], $4::text[]) as wanted (window_us, metric)
cross join lateral (
    select substring(payload from 1 for $5::int) as head
    from blocks
    where job_id = $1 and node_id = $2 and window_us = wanted.window_us and metric = wanted.metric
    limit 1) as b
order by wanted.window_us, wanted.metric)";
constexpr char kSave[] = R"(
insert into blocks (job_id, node_id, window_us, metric, schema_hash, from_us, to_us, rows,
    clock_suspect, payload)
select $1::bigint, $2::bigint, window_us, metric, schema_hash, from_us, to_us, rows,
    clock_suspect <> 0, payload
from unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bigint[],
    $9::bigint[], $10::bytea[])
    as given (window_us, metric, schema_hash, from_us, to_us, rows, clock_suspect, payload)
order by window_us, metric
on conflict (job_id, node_id, window_us, metric) do update
set schema_hash = excluded.schema_hash, from_us = excluded.from_us, to_us = excluded.to_us,
    rows = excluded.rows, clock_suspect = excluded.clock_suspect, payload = excluded.payload)";

}  // namespace

Result<std::vector<BlockWindow>> ListBlockWindows(Connection& connection, const BlockQuery& query) {
  const Result<Rows> rows = connection.Query(
      kWindows, {query.job_id, query.node_id, BlockWindowOf(query.from_us), query.until_us});
  if (!rows) return rows.error();
  std::vector<BlockWindow> windows;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    windows.push_back({rows->Int(i, 0), rows->Int(i, 1)});
  }
  return windows;
}

Result<std::vector<TickTable>> LoadBlocks(Connection& connection, const BlockQuery& query,
                                          ValueBudget& budget) {
  const Result<Rows> rows = connection.QueryByKey(
      kLoad, {query.job_id, query.node_id, BlockWindowOf(query.from_us), query.until_us,
              Parameter::Array(query.filter.metrics), query.from_us});
  if (!rows) return rows.error();
  return DecodeTables(*rows, 0, query.filter, &budget);
}

Result<std::vector<StoredBlock>> LockBlocks(Connection& connection, std::int64_t job_id,
                                            std::int64_t node_id, std::span<const BlockKey> keys) {
  const Result<Rows> rows = connection.QueryByKey(
      kLock, {job_id, node_id, Numbers(keys, [](const BlockKey& key) { return key.window_us; }),
              Texts(keys, [](const BlockKey& key) { return key.metric; })});
  if (!rows) return rows.error();
  Result<std::vector<TickTable>> tables = DecodeTables(*rows, 3, {});
  if (!tables) return tables.error();
  std::vector<StoredBlock> blocks;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    blocks.push_back(
        {{rows->Int(i, 0), rows->Text(i, 1)}, rows->Bool(i, 2), std::move((*tables)[i])});
  }
  return blocks;
}

Status LockBlockWindows(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                        const std::vector<std::int64_t>& windows_us) {
  return Done(connection.QueryByKey(kLockWindows, {job_id, node_id, Parameter::Array(windows_us)}));
}

Result<std::size_t> MeasureBlocks(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                                  std::span<const BlockKey> keys) {
  const Result<Rows> rows = connection.QueryByKey(
      kMeasure,
      {job_id, node_id, Numbers(keys, [](const BlockKey& key) { return key.window_us; }),
       Texts(keys, [](const BlockKey& key) { return key.metric; }), std::int64_t{kTableHeadBytes}});
  if (!rows) return rows.error();
  return DecodedBytes(*rows, 0);
}

Status SaveBlocks(Connection& connection, Connection& schemas, std::int64_t job_id,
                  std::int64_t node_id, std::span<const StoredBlock> blocks) {
  using Row = StoredBlock;
  std::vector<EncodedTable> encoded;
  for (const Row& block : blocks) encoded.push_back(EncodeTicks(block.table));
  if (Status done = SaveSchemas(schemas, job_id, encoded); !done) return done;
  const std::span<const EncodedTable> tables(encoded);
  return Done(connection.QueryByKey(
      kSave, {job_id, node_id, Numbers(blocks, [](const Row& b) { return b.key.window_us; }),
              Texts(blocks, [](const Row& b) { return b.key.metric; }),
              Numbers(tables, [](const EncodedTable& t) { return t.schema_hash; }),
              Numbers(blocks, [](const Row& b) { return b.table.at_us.front(); }),
              Numbers(blocks, [](const Row& b) { return b.table.at_us.back(); }),
              Numbers(blocks, [](const Row& b) { return b.table.at_us.size(); }),
              Numbers(blocks, [](const Row& b) { return b.clock_suspect ? 1 : 0; }),
              Blobs(tables, [](const EncodedTable& t) { return std::string_view(t.payload); })}));
}

}  // namespace stepscope
