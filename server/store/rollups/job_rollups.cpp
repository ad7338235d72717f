#include "server/store/rollups/job_rollups.h"

#include <algorithm>
#include <cmath>

#include "core/base/text.h"
#include "core/wire/frame.h"
#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"
#include "server/store/rollups/rollup_pages.h"

namespace stepscope {
namespace {

// Locks rows that are stale already as well, or else a fold would go ahead. Nodes of a job meet
// here: all lock in the order of pages of blocks, as in rollups.cpp.
constexpr char kMark[] = R"(
insert into job_rollups (job_id, bin_us, metric, chunk_us)
select $1::bigint, bin_us, metric, chunk_us
from unnest($2::bigint[], $3::text[], $4::bigint[]) as given (bin_us, metric, chunk_us)
order by metric collate "C", chunk_us, bin_us
on conflict (job_id, bin_us, metric, chunk_us) do update
set stale = true
where not job_rollups.stale)";
constexpr char kFindStale[] = R"(
select bin_us, chunk_us
from job_rollups
where job_id = $1 and stale
order by bin_us, chunk_us
limit 1)";
constexpr char kLockStale[] = R"(
select metric
from job_rollups
where job_id = $1 and bin_us = $2 and chunk_us = $3 and stale
order by metric collate "C"
limit $4
for update)";
constexpr char kSaveJobRollup[] = R"(
insert into job_rollups (job_id, bin_us, metric, chunk_us, stale, series, payload)
select $1::bigint, bin_us, metric, chunk_us, false, series, payload
from unnest($2::bigint[], $3::text[], $4::bigint[], $5::bigint[], $6::bytea[])
    as given (bin_us, metric, chunk_us, series, payload)
order by bin_us, metric, chunk_us
on conflict (job_id, bin_us, metric, chunk_us) do update
set stale = false, series = excluded.series, payload = excluded.payload)";
constexpr char kLoadJobRollup[] = R"(
select metric, chunk_us, series, case when stale then ''::bytea else payload end, bytes
from (
    select *, sum(octet_length(payload))
        over (order by metric, chunk_us rows unbounded preceding) as bytes
    from (
        select *
        from job_rollups
        where job_id = $1 and bin_us = $2 and chunk_us between $3 and $4
            and (cardinality($5::text[]) = 0 or metric = any($5::text[]))
            and (metric, chunk_us) > ($6, $7)
        order by metric, chunk_us
        limit 4096) as r) as r
where bytes - octet_length(payload) < $8
order by metric, chunk_us)";

constexpr char kWeight[] = "weight";
// For a sum whose series differ in their number of samples: means then rarely come out even.
constexpr int kMoreDecimals = 3;

const Schema& Columns() {
  static const Schema schema{
      -1,
      {{"at_us", ""}, {kCount, ""}, {kGreatest, ""}, {kLeast, ""}, {kSum, ""}, {kWeight, ""}},
      {}};
  return schema;
}

// The largest number of decimals, up to `wanted`, that fits.
std::uint8_t ScaleFor(double most, int wanted) {
  int scale = std::min(wanted, 18);
  while (scale > 0 && most * static_cast<double>(PowerOfTen(static_cast<std::uint8_t>(scale))) >
                          static_cast<double>(INT64_MAX)) {
    --scale;
  }
  return static_cast<std::uint8_t>(scale);
}

Column ColumnOf(const std::vector<FoldedBin>& bins, double FoldedBin::*field, int decimals) {
  double most = 0;
  for (const FoldedBin& bin : bins) most = std::max(most, std::abs(bin.*field));
  Column column{.scale = ScaleFor(most, decimals), .values = {}, .present = {}};
  for (const FoldedBin& bin : bins) column.values.push_back(ToScaled(bin.*field, column.scale));
  return column;
}

std::string Encode(const FoldedRollup& rollup) {
  if (rollup.bins.empty()) return "";
  TickTable table{{}, {Columns().columns.begin() + 1, Columns().columns.end()}, {}};
  for (const FoldedBin& bin : rollup.bins) table.at_us.push_back(bin.at_us);
  table.columns = {ColumnOf(rollup.bins, &FoldedBin::count, 0),
                   ColumnOf(rollup.bins, &FoldedBin::greatest, rollup.scale),
                   ColumnOf(rollup.bins, &FoldedBin::least, rollup.scale),
                   ColumnOf(rollup.bins, &FoldedBin::sum, rollup.scale + kMoreDecimals),
                   ColumnOf(rollup.bins, &FoldedBin::weight, 0)};
  return EncodeTicks(table).payload;
}

Status Decode(std::string_view payload, FoldedRollup& rollup) {
  const Result<TickTable> table = DecodeTicks(payload, Columns(), {});
  if (!table) return table.error();
  const std::vector<Column>& columns = table->columns;
  for (std::size_t row = 0; row < table->at_us.size(); ++row) {
    FoldedBin bin{table->at_us[row],  columns[4].At(row), columns[0].At(row),
                  columns[3].At(row), columns[2].At(row), columns[1].At(row)};
    if (bin.weight <= 0 || bin.count <= 0) return Internal("a bin without samples");
    rollup.bins.push_back(bin);
  }
  return {};
}

enum JobRollupCell : std::size_t { kMetric, kChunk, kSeries, kPayload, kBytes };

Status TakeAll(const Rows& rows, std::int64_t bin_us, const TakeFolded& take) {
  for (std::size_t i = 0; i < rows.size(); ++i) {
    FoldedRollup rollup{
        {bin_us, rows.Text(i, kMetric), rows.Int(i, kChunk)}, rows.Int(i, kSeries), 0, {}};
    const std::string_view payload = rows.BytesView(i, kPayload);
    if (Status read = payload.empty() ? Status() : Decode(payload, rollup); !read) {
      return Internal(Format("folded rollup of {}: {}", rollup.key.metric, read.error().message));
    }
    if (Status taken = take(std::move(rollup)); !taken) return taken;
  }
  return {};
}

}  // namespace

Status MarkStale(Connection& connection, std::int64_t job_id, std::span<const RollupKey> keys) {
  return Done(connection.QueryByKey(
      kMark, {job_id, Numbers(keys, [](const RollupKey& key) { return key.bin_us; }),
              Texts(keys, [](const RollupKey& key) { return key.metric; }),
              Numbers(keys, [](const RollupKey& key) { return key.chunk_us; })}));
}

Result<bool> HasStale(Connection& connection, std::int64_t job_id) {
  const Result<Rows> found = connection.QueryByKey(kFindStale, {job_id});
  if (!found) return found.error();
  return !found->empty();
}

Result<StaleRollups> LockStale(Connection& connection, std::int64_t job_id, std::int64_t most) {
  const Result<Rows> found = connection.QueryByKey(kFindStale, {job_id});
  if (!found) return found.error();
  if (found->empty()) return StaleRollups{};
  const std::int64_t bin_us = found->Int(0, 0), chunk_us = found->Int(0, 1);
  // Planned for these values, not by key: a plan for any values walks all metrics of a long job in
  // order.
  const Result<Rows> rows = connection.Query(kLockStale, {job_id, bin_us, chunk_us, most});
  if (!rows) return rows.error();
  StaleRollups stale{.keys = {}, .more = true};
  for (std::size_t i = 0; i < rows->size(); ++i) {
    stale.keys.push_back({bin_us, rows->Text(i, 0), chunk_us});
  }
  return stale;
}

Status SaveJobRollups(Connection& connection, std::int64_t job_id,
                      std::span<const FoldedRollup> rollups) {
  using Row = FoldedRollup;
  std::vector<std::string> encoded;
  for (const Row& rollup : rollups) encoded.push_back(Encode(rollup));
  const std::span<const std::string> payloads(encoded);
  return Done(connection.QueryByKey(
      kSaveJobRollup, {job_id, Numbers(rollups, [](const Row& r) { return r.key.bin_us; }),
                       Texts(rollups, [](const Row& r) { return r.key.metric; }),
                       Numbers(rollups, [](const Row& r) { return r.key.chunk_us; }),
                       Numbers(rollups, [](const Row& r) { return r.series; }),
                       Blobs(payloads, [](const std::string& p) { return std::string_view(p); })}));
}

Status ForEachJobRollup(Connection& connection, const RollupQuery& query, const TakeFolded& take) {
  const auto ask = [&](const Rows& before) {
    const std::size_t last = before.size() - 1;
    return connection.Query(
        kLoadJobRollup,
        {query.job_id, query.bin_us, ChunkOf(query.from_us, query.bin_us), query.until_us,
         Parameter::Array(query.filter.metrics), before.empty() ? "" : before.Text(last, kMetric),
         before.empty() ? 0 : before.Int(last, kChunk), kRollupBytesAtOnce});
  };
  return ForEachPage(kBytes, ask,
                     [&](const Rows& rows) { return TakeAll(rows, query.bin_us, take); });
}

}  // namespace stepscope
