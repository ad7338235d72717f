#include "server/store/retention/stored_bytes.h"

#include <algorithm>
#include <span>
#include <string_view>

namespace stepscope {
namespace {

// The pages that are read of a table: all of a small one, else as many as a disk reads in seconds.
constexpr double kReadBytes = 128 * 1024 * 1024;

// The rows and bytes of payloads of each key on those pages. Samples are grouped by the end of
// their block window; the times of ticks stay when samples go, so they do not count as samples.
struct SizedTable {
  const char* table;
  const char* statement;
};
constexpr SizedTable kOthers[] = {
    {"frames", R"(
select 0, count(*), coalesce(sum(octet_length(payload)), 0)::bigint
from frames tablesample system ($1))"},
    {"rollups", R"(
select 0, count(*), coalesce(sum(octet_length(payload)), 0)::bigint
from rollups tablesample system ($1))"},
    {"job_rollups", R"(
select 0, count(*), coalesce(sum(octet_length(payload)), 0)::bigint
from job_rollups tablesample system ($1))"},
    {"blocks", R"(
select 0, count(*), coalesce(sum(octet_length(payload)), 0)::bigint
from blocks tablesample system ($1)
where metric = '')"},
    {"events", R"(
select 0, count(*), coalesce(sum(octet_length(detail::text)), 0)::bigint
from events tablesample system ($1))"},
};
constexpr SizedTable kSamples[] = {
    {"blocks", R"(
select to_us - to_us % 600000000 + 600000000 as until_us, count(*),
    sum(octet_length(payload))::bigint
from blocks tablesample system ($1)
where metric <> ''
group by until_us
order by until_us
limit 1000000)"},
    {"step_blocks", R"(
select to_us - to_us % 600000000 + 600000000 as until_us, count(*),
    sum(octet_length(payload))::bigint
from step_blocks tablesample system ($1)
group by until_us
order by until_us
limit 1000000)"},
    {"annotation_blocks", R"(
select to_us - to_us % 600000000 + 600000000 as until_us, count(*),
    sum(octet_length(payload))::bigint
from annotation_blocks tablesample system ($1)
group by until_us
order by until_us
limit 1000000)"},
    {"span_blocks", R"(
select to_us - to_us % 600000000 + 600000000 as until_us, count(*),
    sum(octet_length(payload))::bigint
from span_blocks tablesample system ($1)
group by until_us
order by until_us
limit 1000000)"},
    {"trace_parts", R"(
select kept_us - kept_us % 600000000 + 600000000 as until_us, count(*),
    sum(octet_length(payload))::bigint
from trace_parts tablesample system ($1)
group by until_us
order by until_us
limit 1000000)"},
};
constexpr SizedTable kJobs[] = {
    {"blocks", R"(
select job_id, count(*), sum(octet_length(payload))::bigint
from blocks tablesample system ($1)
group by job_id
order by job_id
limit 1000000)"},
    {"rollups", R"(
select job_id, count(*), sum(octet_length(payload))::bigint
from rollups tablesample system ($1)
group by job_id
order by job_id
limit 1000000)"},
    {"job_rollups", R"(
select job_id, count(*), sum(octet_length(payload))::bigint
from job_rollups tablesample system ($1)
group by job_id
order by job_id
limit 1000000)"},
    {"step_blocks", R"(
select job_id, count(*), sum(octet_length(payload))::bigint
from step_blocks tablesample system ($1)
group by job_id
order by job_id
limit 1000000)"},
    {"annotation_blocks", R"(
select job_id, count(*), sum(octet_length(payload))::bigint
from annotation_blocks tablesample system ($1)
group by job_id
order by job_id
limit 1000000)"},
    {"span_blocks", R"(
select job_id, count(*), sum(octet_length(payload))::bigint
from span_blocks tablesample system ($1)
group by job_id
order by job_id
limit 1000000)"},
    {"trace_parts", R"(
select job_id, count(*), sum(octet_length(payload))::bigint
from trace_parts tablesample system ($1)
group by job_id
order by job_id
limit 1000000)"},
};

constexpr char kFiles[] = R"(
select table_bytes('frames'), table_bytes('blocks'), table_bytes('rollups'),
    table_bytes('job_rollups'), table_bytes('step_blocks'),
    table_bytes('annotation_blocks'), table_bytes('span_blocks'), table_bytes('events'),
    table_bytes('trace_parts'))";
constexpr char kTryLock[] = "select pg_try_advisory_lock(7383, 0)";
constexpr char kUnlock[] = "select pg_advisory_unlock(7383, 0)";

using Files = std::map<std::string_view, std::int64_t>;
using BytesByKey = std::map<std::int64_t, std::int64_t>;

Result<Files> ReadFiles(Connection& connection) {
  const Result<Rows> rows = connection.Query(kFiles);
  if (!rows) return rows.error();
  return Files{{"frames", rows->Int(0, 0)},      {"blocks", rows->Int(0, 1)},
               {"rollups", rows->Int(0, 2)},     {"job_rollups", rows->Int(0, 3)},
               {"step_blocks", rows->Int(0, 4)}, {"annotation_blocks", rows->Int(0, 5)},
               {"span_blocks", rows->Int(0, 6)}, {"events", rows->Int(0, 7)},
               {"trace_parts", rows->Int(0, 8)}};
}

// Estimates all rows from those on some pages.
Result<BytesByKey> Measure(Connection& connection, const Files& files,
                           std::span<const SizedTable> parts) {
  BytesByKey bytes;
  for (const SizedTable& part : parts) {
    const double share = std::min(1.0, kReadBytes / std::max(1.0, double(files.at(part.table))));
    const Result<Rows> rows = connection.Query(part.statement, {share * 100});
    if (!rows) return rows.error();
    for (std::size_t i = 0; i < rows->size(); ++i) {
      const std::int64_t read = OnDisk(rows->Int(i, 1), rows->Int(i, 2));
      bytes[rows->Int(i, 0)] += static_cast<std::int64_t>(double(read) / share);
    }
  }
  return bytes;
}

}  // namespace

Result<StoredBytes> MeasureStored(Connection& connection) {
  const Result<Files> files = ReadFiles(connection);
  if (!files) return files.error();
  const Result<BytesByKey> others = Measure(connection, *files, kOthers);
  if (!others) return others.error();
  const Result<BytesByKey> samples = Measure(connection, *files, kSamples);
  if (!samples) return samples.error();
  StoredBytes stored;
  for (const auto& [table, bytes] : *files) stored.files += bytes;
  for (const auto& [none, bytes] : *others) stored.live += bytes;
  for (const auto& [until_us, bytes] : *samples) {
    stored.live += bytes;
    stored.samples.push_back({until_us, bytes});
  }
  return stored;
}

Result<std::map<std::int64_t, std::int64_t>> MeasureJobs(Connection& connection) {
  const Result<Files> files = ReadFiles(connection);
  if (!files) return files.error();
  return Measure(connection, *files, kJobs);
}

std::int64_t TimeToFree(const StoredBytes& stored, std::int64_t bytes, std::int64_t latest_us) {
  std::int64_t before_us = 0;
  for (const SamplesUntil& samples : stored.samples) {
    if (bytes <= 0 || samples.until_us > latest_us) break;
    bytes -= samples.bytes;
    before_us = samples.until_us;
  }
  return before_us;
}

Result<bool> TryLockSize(Connection& connection) {
  const Result<Rows> locked = connection.Query(kTryLock);
  if (!locked) return locked.error();
  return locked->Bool(0, 0);
}

void UnlockSize(Connection& connection) {
  (void)connection.Query(kUnlock);  // a broken session holds no lock
}

}  // namespace stepscope
