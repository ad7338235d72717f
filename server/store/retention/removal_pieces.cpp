#include "server/store/retention/removal_pieces.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

// Tables with many rows of a job. tests/support/sql.py puts these rows into the text as well.
struct PieceTable {
  const char* name;
  const char* keys;   // after the job, in the order of the primary key
  const char* bytes;  // the bytes of a row's payload
};
constexpr char kPieceText[] = R"(
with gone as (
    delete from {0}
    where job_id = $1 and ({1}) in (
        select {1} from {0} where job_id = $1 order by {1} limit $2)
    returning {2} as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)";
constexpr PieceTable kPieceTables[] = {
    {"frames", "session, sequence", "octet_length(payload)"},
    {"blocks", "node_id, window_us, metric", "octet_length(payload)"},
    {"rollups", "bin_us, metric, node_id, chunk_us", "octet_length(payload)"},
    {"job_rollups", "bin_us, metric, chunk_us", "octet_length(payload)"},
    {"step_blocks", "step_block_id", "octet_length(payload)"},
    {"annotation_blocks", "rank, window_us", "octet_length(payload)"},
    {"span_blocks", "window_id, rank, session, sequence", "octet_length(payload)"},
    {"trace_parts", "window_id, rank, part, track, number", "octet_length(payload)"},
    {"findings", "rule_config_id, finding", "0"},
    {"events", "event_id", "0"},
    {"streams", "session", "0"},
    {"schemas", "schema_hash", "octet_length(content)"},
};

// A message that waits still goes out first; there is none of the removal itself. The state is
// asked twice: a message that was asked for again while the delete waited for its row has another,
// and only what is outside of the subquery is evaluated anew.
constexpr char kMessages[] = R"(
with gone as (
    delete from deliveries
    where job_id = $1 and state in ('delivered', 'dead')
        and delivery_id in (select delivery_id from deliveries
            where job_id = $1 and state in ('delivered', 'dead') order by delivery_id limit $2)
    returning octet_length(body) as size
)
select count(*), coalesce(sum(size), 0)::bigint from gone)";

// Tables with few rows of a job: all at once.
constexpr char kSmallText[] =
    "with gone as (delete from {0} where job_id = $1 returning 1) "
    "select count(*), least($2::bigint, 0) from gone";
constexpr const char* kSmallTables[] = {
    "nodes",       "windows",      "window_answers",     "traces",    "ranks",
    "rule_states", "rule_configs", "status_transitions", "job_hours",
};

std::vector<std::string> MakeJobPieces() {
  std::vector<std::string> pieces;
  for (const PieceTable& table : kPieceTables) {
    pieces.push_back(Format(kPieceText, table.name, table.keys, table.bytes));
  }
  pieces.emplace_back(kMessages);
  for (const char* name : kSmallTables) pieces.push_back(Format(kSmallText, name));
  return pieces;
}

}  // namespace

const std::vector<std::string>& JobPieces() {
  static const std::vector<std::string> pieces = MakeJobPieces();
  return pieces;
}

}  // namespace stepscope
