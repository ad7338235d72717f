#include "server/store/rollups/rollups.h"

#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"
#include "server/store/rollups/rollup_pages.h"
#include "server/store/ticks/block_tables.h"

namespace stepscope {
namespace {

// Locks rows one by one: a join that was planned while the table was empty reads all rollups of the
// job. In the order of pages of blocks (CutBlocks), which go by metric, then by time: a chunk that
// no page before touched begins after them.
constexpr char kLock[] = R"(
select r.bin_us, r.metric, r.chunk_us, r.schema_hash, s.content, r.payload
from (
    select bin_us, metric, chunk_us
    from unnest($3::bigint[], $4::text[], $5::bigint[]) as given (bin_us, metric, chunk_us)
    order by metric collate "C", chunk_us, bin_us) as wanted
cross join lateral (
    select *
    from rollups
    where job_id = $1 and bin_us = wanted.bin_us and metric = wanted.metric and node_id = $2
        and chunk_us = wanted.chunk_us
    limit 1
    for update) as r
left join schemas s on s.job_id = $1 and s.schema_hash = r.schema_hash
order by r.bin_us, r.metric, r.chunk_us)";
constexpr char kMeasure[] = R"(
select r.head
from unnest($3::bigint[], $4::text[], $5::bigint[]) as wanted (bin_us, metric, chunk_us)
cross join lateral (
    select substring(payload from 1 for $6::int) as head
    from rollups
    where job_id = $1 and bin_us = wanted.bin_us and metric = wanted.metric and node_id = $2
        and chunk_us = wanted.chunk_us
    limit 1) as r
order by wanted.bin_us, wanted.metric, wanted.chunk_us)";
constexpr char kSaveRollup[] = R"(
insert into rollups (job_id, node_id, bin_us, metric, chunk_us, schema_hash, payload, marked)
select $1::bigint, $2::bigint, bin_us, metric, chunk_us, schema_hash, payload, true
from unnest($3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::bytea[])
    as given (bin_us, metric, chunk_us, schema_hash, payload)
order by metric collate "C", chunk_us, bin_us
on conflict (job_id, bin_us, metric, node_id, chunk_us) do update
set schema_hash = excluded.schema_hash, payload = excluded.payload)";
constexpr char kLoadChunk[] = R"(
select r.node_id, r.metric, r.schema_hash, s.content, r.payload
from unnest($5::bigint[]) as wanted (node_id)
cross join lateral (
    select *
    from rollups
    where job_id = $1 and bin_us = $2 and metric = $3 and node_id = wanted.node_id
        and chunk_us = $4
    limit 1) as r
left join schemas s on s.job_id = $1 and s.schema_hash = r.schema_hash
order by r.node_id
limit 10000)";
// Reads the rows after a position, up to kRollupsAtOnce or a number of bytes: an answer is in
// memory as a whole. PostgreSQL knows the length of a payload without reading it, and walks the
// primary key for the first of many: the limit is below the sums, so that it stops there.
constexpr char kLoadRollup[] = R"(
select node_id, metric, schema_hash, content, payload, chunk_us, bytes
from (
    select r.*, s.content,
        sum(octet_length(r.payload) + coalesce(octet_length(s.content), 0))
            over (order by r.metric, r.node_id, r.chunk_us rows unbounded preceding) as bytes
    from (
        select *
        from rollups
        where job_id = $1 and bin_us = $2 and chunk_us between $3 and $4
            and (cardinality($5::bigint[]) = 0 or node_id = any($5::bigint[]))
            and (cardinality($6::text[]) = 0 or metric = any($6::text[]))
            and (cardinality($7::bigint[]) = 0 or chunk_us = any($7::bigint[]))
            and (metric, node_id, chunk_us) > ($8, $9, $10)
        order by metric, node_id, chunk_us
        limit 4096) as r
    left join schemas s on s.job_id = $1 and s.schema_hash = r.schema_hash) as r
where bytes - octet_length(payload) - coalesce(octet_length(content), 0) < $11
order by metric, node_id, chunk_us)";

enum RollupCell : std::size_t {
  kNodeCell,
  kMetricCell,
  kHashCell,
  kContentCell,
  kPayloadCell,
  kChunkCell,
  kBytesCell
};

Status TakeAll(const Rows& rows, const TickFilter& columns, const TakeRollup& take) {
  RowTables tables(rows, kHashCell, columns);
  for (std::size_t row = 0; row < rows.size(); ++row) {
    Result<TickTable> bins = tables.Decode(row);
    if (!bins) return bins.error();
    const Status taken =
        take({rows.Int(row, kNodeCell), rows.Text(row, kMetricCell), std::move(*bins)});
    if (!taken) return taken;
  }
  return {};
}

}  // namespace

std::int64_t ChunkOf(std::int64_t at_us, std::int64_t bin_us) {
  const RollupLevel* level = LevelFor(bin_us);
  return at_us - at_us % (level ? level->chunk_us : bin_us);
}

Error TooManyRollups() {
  return Invalid(
      "more than one answer is made of; ask for a shorter range, one metric or one node");
}

Result<std::vector<StoredRollup>> LockRollups(Connection& connection, std::int64_t job_id,
                                              std::int64_t node_id,
                                              std::span<const RollupKey> keys) {
  const Result<Rows> rows = connection.QueryByKey(
      kLock, {job_id, node_id, Numbers(keys, [](const RollupKey& key) { return key.bin_us; }),
              Texts(keys, [](const RollupKey& key) { return key.metric; }),
              Numbers(keys, [](const RollupKey& key) { return key.chunk_us; })});
  if (!rows) return rows.error();
  Result<std::vector<TickTable>> tables = DecodeTables(*rows, 3, {});
  if (!tables) return tables.error();
  std::vector<StoredRollup> rollups;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    rollups.push_back(
        {{rows->Int(i, 0), rows->Text(i, 1), rows->Int(i, 2)}, std::move((*tables)[i])});
  }
  return rollups;
}

Result<std::size_t> MeasureRollups(Connection& connection, std::int64_t job_id,
                                   std::int64_t node_id, std::span<const RollupKey> keys) {
  const Result<Rows> rows = connection.QueryByKey(
      kMeasure, {job_id, node_id, Numbers(keys, [](const RollupKey& key) { return key.bin_us; }),
                 Texts(keys, [](const RollupKey& key) { return key.metric; }),
                 Numbers(keys, [](const RollupKey& key) { return key.chunk_us; }),
                 std::int64_t{kTableHeadBytes}});
  if (!rows) return rows.error();
  return DecodedBytes(*rows, 0);
}

Status SaveRollups(Connection& connection, Connection& schemas, std::int64_t job_id,
                   std::int64_t node_id, std::span<const StoredRollup> rollups) {
  using Row = StoredRollup;
  std::vector<EncodedTable> encoded;
  for (const Row& rollup : rollups) encoded.push_back(EncodeTicks(rollup.bins));
  if (Status done = SaveSchemas(schemas, job_id, encoded); !done) return done;
  const std::span<const EncodedTable> tables(encoded);
  return Done(connection.QueryByKey(
      kSaveRollup,
      {job_id, node_id, Numbers(rollups, [](const Row& r) { return r.key.bin_us; }),
       Texts(rollups, [](const Row& r) { return r.key.metric; }),
       Numbers(rollups, [](const Row& r) { return r.key.chunk_us; }),
       Numbers(tables, [](const EncodedTable& t) { return t.schema_hash; }),
       Blobs(tables, [](const EncodedTable& t) { return std::string_view(t.payload); })}));
}

Status ForEachRollup(Connection& connection, const RollupQuery& query, const TakeRollup& take) {
  TickFilter columns{{}, query.filter.device};
  if (query.means) columns.metrics = {kCount, kSum};
  const auto ask = [&](const Rows& before) {
    const std::size_t last = before.size() - 1;
    return connection.Query(
        kLoadRollup,
        {query.job_id, query.bin_us, ChunkOf(query.from_us, query.bin_us), query.until_us,
         Parameter::Array(query.node_ids), Parameter::Array(query.filter.metrics),
         Parameter::Array(query.chunks_us), before.empty() ? "" : before.Text(last, kMetricCell),
         before.empty() ? 0 : before.Int(last, kNodeCell),
         before.empty() ? 0 : before.Int(last, kChunkCell), kRollupBytesAtOnce});
  };
  return ForEachPage(kBytesCell, ask,
                     [&](const Rows& rows) { return TakeAll(rows, columns, take); });
}

Status ForEachRollupOf(Connection& connection, std::int64_t job_id, const RollupKey& key,
                       const std::vector<std::int64_t>& node_ids, const TakeRollup& take) {
  const Result<Rows> rows = connection.QueryByKey(
      kLoadChunk, {job_id, key.bin_us, key.metric, key.chunk_us, Parameter::Array(node_ids)});
  if (!rows) return rows.error();
  return TakeAll(*rows, {}, take);
}

}  // namespace stepscope
