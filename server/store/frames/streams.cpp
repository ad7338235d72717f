#include "server/store/frames/streams.h"

#include "server/store/frames/job_id.h"
#include "server/store/frames/streams_of_job.h"
#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr char kSumLosses[] = R"(
select coalesce(sum(lost), 0)::bigint, coalesce(sum(rejected), 0)::bigint
from streams
where job_id = $1)";
constexpr char kFindSchema[] = R"(
select content
from schemas
where job_id = $1 and schema_hash = $2)";
constexpr char kAddNodes[] = R"(
insert into nodes (job_id, name, first_seen_us, last_seen_us)
select job_id, name, seen_us, seen_us
from unnest($1::bigint[], $2::text[], $3::bigint[]) as given (job_id, name, seen_us)
order by job_id, name
on conflict do nothing)";
constexpr char kSeeNodes[] = R"(
update nodes n
set last_seen_us = greatest(n.last_seen_us, given.seen_us),
    clock_offset_us = case when given.round_trip_us > 0 then given.clock_offset_us
        else n.clock_offset_us end,
    round_trip_us = case when given.round_trip_us > 0 then given.round_trip_us
        else n.round_trip_us end,
    clock_suspect_since_us = coalesce(n.clock_suspect_since_us,
        case when given.suspect_offset_us <> 0 then given.seen_us end),
    clock_suspect_until_us = greatest(n.clock_suspect_until_us,
        case when given.suspect_offset_us <> 0 then given.seen_us end),
    clock_suspect_offset_us =
        coalesce(nullif(given.suspect_offset_us, 0), n.clock_suspect_offset_us)
from unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[])
    as given (job_id, name, seen_us, clock_offset_us, round_trip_us, suspect_offset_us)
where n.job_id = given.job_id and n.name = given.name and ($7::bigint is null or n.job_id = $7)
returning n.job_id, n.name, n.node_id)";
constexpr char kAddStreams[] = R"(
insert into streams (job_id, node_id, session, created_us)
select job_id, node_id, session, $4
from unnest($1::bigint[], $2::bigint[], $3::bytea[]) as given (job_id, node_id, session)
order by job_id, session
on conflict do nothing)";
constexpr char kExistingStreams[] = R"(
select place
from unnest($1::bigint[], $2::bytea[]) with ordinality as wanted (job_id, session, place)
join streams using (job_id, session)
where $3::bigint is null or job_id = $3
order by place
limit 10000)";
// Locks streams of one job, since Citus locks no rows of several at once, and one by one: a join
// that was planned while the table was empty reads all streams of the job.
constexpr char kLockStreams[] = R"(
select place, stored, interval_answered, stop_answered, window_answered
from (
    select session, place
    from unnest($2::bytea[]) with ordinality as given (session, place)
    order by session) as wanted
cross join lateral (
    select stored, interval_answered, stop_answered, window_answered
    from streams
    where job_id = $1 and session = wanted.session
    limit 1
    for update) as locked
order by place)";
constexpr char kAdvanceStreams[] = R"(
update streams s
set stored = given.stored, lost = s.lost + given.lost, rejected = s.rejected + given.rejected
from unnest($1::bigint[], $2::bytea[], $3::bigint[], $4::bigint[], $5::bigint[])
    as given (job_id, session, stored, lost, rejected)
where s.job_id = given.job_id and s.session = given.session
    and ($6::bigint is null or s.job_id = $6))";
constexpr char kInsertFrames[] = R"(
insert into frames (job_id, node_id, session, sequence, kind, rank, schema_hash, from_us, to_us,
    rows, clock_suspect, payload)
select job_id, node_id, session, sequence, kind, rank, schema_hash, from_us, to_us, rows,
    clock_suspect <> 0, payload
from unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[])
    as given (job_id, node_id, session, sequence, kind, rank, schema_hash, from_us, to_us, rows,
        clock_suspect, payload))";
// Many frames of one job come by way of its streams: Citus sends rows that come from a table of the
// job to its shard as one statement. Rows that come from nowhere it copies there, and commits in
// two phases.
constexpr char kInsertFramesOfJob[] = R"(
insert into frames (job_id, node_id, session, sequence, kind, rank, schema_hash, from_us, to_us,
    rows, clock_suspect, payload)
select s.job_id, given.node_id, s.session, sequence, kind, rank, schema_hash, from_us, to_us, rows,
    clock_suspect <> 0, payload
from streams s
join unnest($1::bigint[], $2::bigint[], $3::bytea[], $4::bigint[], $5::bigint[], $6::bigint[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[], $12::bytea[])
    as given (job_id, node_id, session, sequence, kind, rank, schema_hash, from_us, to_us, rows,
        clock_suspect, payload) on given.session = s.session
where s.job_id = $13)";
constexpr char kInsertSchemas[] = R"(
insert into schemas (job_id, schema_hash, content)
select job_id, schema_hash, content
from unnest($1::bigint[], $2::bigint[], $3::bytea[]) as given (job_id, schema_hash, content)
order by job_id, schema_hash
on conflict do nothing)";

std::string_view SessionOf(const StreamKey& key) {
  return key.session;
}

// Whether Citus keeps the rows, and all of them on one shard.
template <typename Row>
bool OnOneShard(std::span<const Row> rows, Placement placement) {
  return placement == Placement::kByJob && OneJobOf(rows);
}

// Splits the list where another job begins.
std::vector<std::span<const StreamKey>> ByJob(std::span<const StreamKey> streams) {
  std::vector<std::span<const StreamKey>> parts;
  for (std::size_t from = 0, to = 0; from < streams.size(); from = to) {
    while (to < streams.size() && streams[to].job_id == streams[from].job_id) ++to;
    parts.push_back(streams.subspan(from, to - from));
  }
  return parts;
}

}  // namespace

Result<std::optional<SchemaOfJob>> FindSchema(Connection& connection, const std::string& job,
                                              std::uint64_t schema_hash) {
  const Result<std::optional<std::int64_t>> job_id = FindJobId(connection, job);
  if (!job_id) return job_id.error();
  if (!*job_id) return std::optional<SchemaOfJob>();
  const Result<Rows> rows =
      connection.QueryByKey(kFindSchema, {**job_id, static_cast<std::int64_t>(schema_hash)});
  if (!rows) return rows.error();
  if (rows->empty()) return std::optional<SchemaOfJob>();
  Result<Schema> schema = DecodeSchema(rows->Bytes(0, 0));
  if (!schema) return Internal("stored schema: " + schema.error().message);
  return std::optional(SchemaOfJob{std::move(*schema), **job_id});
}

Statement AddNodes(std::span<const NodeSeen> nodes) {
  return {kAddNodes,
          {Numbers(nodes, [](const NodeSeen& n) { return n.job_id; }),
           Texts(nodes, [](const NodeSeen& n) { return n.name; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.seen_us; })}};
}

Statement SeeNodes(std::span<const NodeSeen> nodes, Placement placement) {
  if (OnOneShard(nodes, placement)) return SeeNodesOfJob(nodes);
  return {kSeeNodes,
          {Numbers(nodes, [](const NodeSeen& n) { return n.job_id; }),
           Texts(nodes, [](const NodeSeen& n) { return n.name; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.seen_us; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.clock_offset_us; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.round_trip_us; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.suspect_offset_us; }), OneJobOf(nodes)}};
}

std::map<std::pair<std::int64_t, std::string>, std::int64_t> NodeNumbers(const Rows& seen) {
  std::map<std::pair<std::int64_t, std::string>, std::int64_t> numbers;
  for (std::size_t i = 0; i < seen.size(); ++i) {
    numbers[{seen.Int(i, 0), seen.Text(i, 1)}] = seen.Int(i, 2);
  }
  return numbers;
}

Statement AddStreams(std::span<const StreamKey> streams, std::int64_t now_us) {
  return {kAddStreams,
          {Numbers(streams, [](const StreamKey& s) { return s.job_id; }),
           Numbers(streams, [](const StreamKey& s) { return s.node_id; }),
           Blobs(streams, SessionOf), now_us}};
}

Result<std::vector<bool>> ExistingStreams(Connection& connection,
                                          std::span<const StreamKey> streams) {
  const Result<Rows> rows = connection.Query(
      kExistingStreams, {Numbers(streams, [](const StreamKey& s) { return s.job_id; }),
                         Blobs(streams, SessionOf), OneJobOf(streams)});
  if (!rows) return rows.error();
  std::vector<bool> exist(streams.size());
  for (std::size_t i = 0; i < rows->size(); ++i) {
    exist[static_cast<std::size_t>(rows->Int(i, 0)) - 1] = true;
  }
  return exist;
}

std::vector<Statement> LockStreams(std::span<const StreamKey> streams, Placement placement) {
  if (OnOneShard(streams, placement)) return {LockStreamsOfJob(streams)};
  std::vector<Statement> locks;
  for (const std::span<const StreamKey> some : ByJob(streams)) {
    locks.push_back({kLockStreams, {some[0].job_id, Blobs(some, SessionOf)}});
  }
  return locks;
}

std::vector<std::optional<StreamCursor>> CursorsOf(std::span<const StreamKey> streams,
                                                   std::span<const Rows> locked) {
  std::vector<std::optional<StreamCursor>> cursors;
  for (const std::span<const StreamKey> some : ByJob(streams)) {
    const Rows& rows = locked.front();
    const std::size_t first = cursors.size();
    cursors.resize(first + some.size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      cursors[first + static_cast<std::size_t>(rows.Int(i, 0)) - 1] = {
          rows.Int(i, 1), rows.Int(i, 2), rows.Int(i, 3), rows.Int(i, 4)};
    }
    locked = locked.subspan(1);
  }
  return cursors;
}

Statement AdvanceStreams(std::span<const StreamAdvance> streams, Placement placement) {
  if (OnOneShard(streams, placement)) return AdvanceStreamsOfJob(streams);
  using Row = StreamAdvance;
  return {kAdvanceStreams,
          {Numbers(streams, [](const Row& s) { return s.job_id; }),
           Blobs(streams, [](const Row& s) -> std::string_view { return s.session; }),
           Numbers(streams, [](const Row& s) { return s.stored; }),
           Numbers(streams, [](const Row& s) { return s.lost; }),
           Numbers(streams, [](const Row& s) { return s.rejected; }), OneJobOf(streams)}};
}

Statement InsertFrames(std::span<const NewFrame> frames, Placement placement) {
  using Row = NewFrame;
  const auto job = placement == Placement::kByJob ? OneJobOf(frames) : std::nullopt;
  if (job && frames.size() <= kMostRowsOfValues) return InsertFewFrames(frames);
  Statement insert{kInsertFrames,
                   {Numbers(frames, [](const Row& f) { return f.job_id; }),
                    Numbers(frames, [](const Row& f) { return f.node_id; }),
                    Blobs(frames, [](const Row& f) { return f.session; }),
                    Numbers(frames, [](const Row& f) { return f.sequence; }),
                    Numbers(frames, [](const Row& f) { return f.kind; }),
                    Numbers(frames, [](const Row& f) { return f.rank; }),
                    Numbers(frames, [](const Row& f) { return f.schema_hash; }),
                    Numbers(frames, [](const Row& f) { return f.from_us; }),
                    Numbers(frames, [](const Row& f) { return f.to_us; }),
                    Numbers(frames, [](const Row& f) { return f.rows; }),
                    Numbers(frames, [](const Row& f) { return f.clock_suspect ? 1 : 0; }),
                    Blobs(frames, [](const Row& f) { return f.payload; })}};
  if (!job) return insert;
  insert.sql = kInsertFramesOfJob;
  insert.parameters.emplace_back(*job);
  return insert;
}

Statement InsertSchemas(std::span<const NewSchema> schemas) {
  using Row = NewSchema;
  return {kInsertSchemas,
          {Numbers(schemas, [](const Row& s) { return s.job_id; }),
           Numbers(schemas, [](const Row& s) { return s.schema_hash; }),
           Blobs(schemas, [](const Row& s) { return s.content; })}};
}

Result<FrameLosses> SumLosses(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.Query(kSumLosses, {job_id});
  if (!rows) return rows.error();
  return FrameLosses{rows->Int(0, 0), rows->Int(0, 1)};
}

}  // namespace stepscope
