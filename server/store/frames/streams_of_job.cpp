#include "server/store/frames/streams_of_job.h"

#include "core/base/text.h"
#include "server/store/postgres/arrays.h"

namespace stepscope {
namespace {

// The values of a row stand in arrays, at the place of its key. None of them stands alone behind
// its `=`: Citus 13.2 ends with a fault when it writes such a statement out.
constexpr char kSeeNodesOfJob[] = R"(
update nodes
set last_seen_us = greatest(last_seen_us, ($3::bigint[])[array_position($2::text[], name)]),
    clock_offset_us = case when ($5::bigint[])[array_position($2::text[], name)] > 0
        then ($4::bigint[])[array_position($2::text[], name)] else clock_offset_us end,
    round_trip_us = case when ($5::bigint[])[array_position($2::text[], name)] > 0
        then ($5::bigint[])[array_position($2::text[], name)] else round_trip_us end,
    clock_suspect_since_us = coalesce(clock_suspect_since_us,
        case when ($6::bigint[])[array_position($2::text[], name)] <> 0
            then ($3::bigint[])[array_position($2::text[], name)] end),
    clock_suspect_until_us = greatest(clock_suspect_until_us,
        case when ($6::bigint[])[array_position($2::text[], name)] <> 0
            then ($3::bigint[])[array_position($2::text[], name)] end),
    clock_suspect_offset_us = coalesce(
        nullif(($6::bigint[])[array_position($2::text[], name)], 0), clock_suspect_offset_us)
where job_id = $1 and name = any($2::text[])
returning job_id, name, node_id)";
constexpr char kLockStreamsOfJob[] = R"(
select array_position($2::bytea[], session)::bigint, stored, interval_answered, stop_answered,
    window_answered
from streams
where job_id = $1 and session = any($2::bytea[])
order by session
for update)";
constexpr char kAdvanceStreamsOfJob[] = R"(
update streams
set stored = coalesce(($3::bigint[])[array_position($2::bytea[], session)], stored),
    lost = lost + ($4::bigint[])[array_position($2::bytea[], session)],
    rejected = rejected + ($5::bigint[])[array_position($2::bytea[], session)]
where job_id = $1 and session = any($2::bytea[]))";
constexpr char kInsertFewFrames[] = R"(
insert into frames (job_id, node_id, session, sequence, kind, rank, schema_hash, from_us, to_us,
    rows, clock_suspect, payload)
values {})";

}  // namespace

std::string PlacesOf(std::size_t rows, std::size_t columns) {
  std::string places;
  for (std::size_t row = 0, next = 1; row < rows; ++row) {
    places += row == 0 ? "(" : ", (";
    for (std::size_t column = 0; column < columns; ++column, ++next) {
      places += Format("{}${}", column == 0 ? "" : ", ", next);
    }
    places += ")";
  }
  return places;
}

Statement SeeNodesOfJob(std::span<const NodeSeen> nodes) {
  return {kSeeNodesOfJob,
          {nodes[0].job_id, Texts(nodes, [](const NodeSeen& n) { return n.name; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.seen_us; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.clock_offset_us; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.round_trip_us; }),
           Numbers(nodes, [](const NodeSeen& n) { return n.suspect_offset_us; })}};
}

Statement LockStreamsOfJob(std::span<const StreamKey> streams) {
  const auto session = [](const StreamKey& s) -> std::string_view { return s.session; };
  return {kLockStreamsOfJob, {streams[0].job_id, Blobs(streams, session)}};
}

Statement AdvanceStreamsOfJob(std::span<const StreamAdvance> streams) {
  using Row = StreamAdvance;
  return {kAdvanceStreamsOfJob,
          {streams[0].job_id,
           Blobs(streams, [](const Row& s) -> std::string_view { return s.session; }),
           Numbers(streams, [](const Row& s) { return s.stored; }),
           Numbers(streams, [](const Row& s) { return s.lost; }),
           Numbers(streams, [](const Row& s) { return s.rejected; })}};
}

Statement InsertFewFrames(std::span<const NewFrame> frames) {
  Statement insert{Format(kInsertFewFrames, PlacesOf(frames.size(), 12)), {}};
  for (const NewFrame& f : frames) {
    insert.parameters.insert(insert.parameters.end(),
                             {f.job_id, f.node_id, Parameter::Bytes(f.session), f.sequence,
                              static_cast<int>(f.kind), f.rank, f.schema_hash, f.from_us, f.to_us,
                              f.rows, f.clock_suspect, Parameter::Bytes(f.payload)});
  }
  return insert;
}

}  // namespace stepscope
