#include "server/store/steps/step_blocks.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "core/wire/frame.h"
#include "core/wire/table_codec.h"
#include "server/store/frames/stored_frames.h"
#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"
#include "server/store/steps/block_summary.h"
#include "server/store/steps/steps.h"
#include "server/store/ticks/block_tables.h"

namespace stepscope {
namespace {

constexpr int kMostTurns = 100;  // attempts: a listed block may have been merged meanwhile

constexpr char kList[] = R"(
select step_block_id, from_us, rows
from step_blocks
where job_id = $1 and rank = $2 and to_us > $3 and from_us <= $4
order by from_us, step_block_id
limit 200000)";
constexpr char kLoad[] = R"(
select step_block_id, schema_hash, payload
from step_blocks
where job_id = $1 and step_block_id = any($2::bigint[])
order by from_us, step_block_id
limit 200000)";
constexpr char kTouched[] = R"(
select step_block_id
from step_blocks
where job_id = $1 and rank = $2 and (to_us >= $3 and from_us <= $4
    or rows < $5 and to_us = (select max(to_us) from step_blocks where job_id = $1 and rank = $2))
order by step_block_id
limit 1000
for update)";
constexpr char kDelete[] = R"(
delete from step_blocks
where job_id = $1 and step_block_id = any($2::bigint[]))";
constexpr char kInsert[] = R"(
insert into step_blocks (job_id, rank, schema_hash, from_us, to_us, rows, payload, summary)
select $1::bigint, $2::integer, schema_hash, from_us, to_us, rows, payload, summary
from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bytea[], $8::bytea[])
    as given (schema_hash, from_us, to_us, rows, payload, summary))";

Result<std::vector<Step>> Load(Connection& connection, std::int64_t job_id,
                               const std::vector<std::int64_t>& ids) {
  std::vector<Step> steps;
  const auto take = [&](std::int64_t, const std::vector<Step>& some) {
    steps.insert(steps.end(), some.begin(), some.end());
  };
  if (Status loaded = ForEachStepBlock(connection, job_id, ids, take); !loaded) {
    return loaded.error();
  }
  return steps;
}

// Times that no step has are not written: missing is zero, but for that by the GPU's clock.
EncodedTable Encode(std::span<const Step> steps, int rank) {
  Schema schema{rank, {{"step", ""}, {"start_us", ""}, {"wall_ns", ""}}, {}};
  Table table{steps.size(), std::vector<Column>(3)};
  for (const Step& step : steps) {
    table.columns[0].values.push_back(step.number);
    table.columns[1].values.push_back(ToMicros(step.start));
    table.columns[2].values.push_back(step.wall.count());
  }
  for (std::size_t i = 0; i < kStepTimes; ++i) {
    Column column = StepTimeColumn(steps, i);
    const bool zero = std::ranges::count(column.values, 0) == std::ssize(column.values);
    const bool known =
        std::ranges::any_of(steps, [](const Step& s) { return s.gpu_idle.has_value(); });
    if (zero && (i != kGpuIdleTime || !known)) continue;
    schema.columns.push_back({std::string(StepTimeName(i)), ""});
    table.columns.push_back(std::move(column));
  }
  return {static_cast<std::int64_t>(HashSchema(schema)), EncodeSchema(schema), EncodeTable(table)};
}

Result<StepBlocks> LoadListed(Connection& connection, const StepQuery& query, std::size_t budget) {
  const Result<Rows> rows =
      connection.Query(kList, {query.job_id, query.rank, query.after_us, query.until_us});
  if (!rows) return rows.error();
  StepBlocks found;
  std::vector<std::int64_t> ids;
  std::size_t steps = 0;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const std::int64_t from_us = rows->Int(i, 1);
    if (steps > budget && from_us > query.after_us && from_us > rows->Int(0, 1)) {
      found.complete_before_us = from_us;
      break;
    }
    ids.push_back(rows->Int(i, 0));
    steps += static_cast<std::size_t>(rows->Int(i, 2));
  }
  Result<std::vector<Step>> loaded = Load(connection, query.job_id, ids);
  if (!loaded) return loaded.error();
  found.steps = std::move(*loaded);
  return found;
}

}  // namespace

std::vector<Step> StepsOf(const Schema& schema, const Table& table) {
  std::vector<Step> steps(table.rows);
  for (std::size_t row = 0; row < table.rows; ++row) {
    steps[row].number = table.columns[0].values[row];
    steps[row].start = FromMicros(table.columns[1].values[row]);
    steps[row].wall = Duration(table.columns[2].values[row]);
  }
  for (std::size_t i = 3; i < table.columns.size(); ++i) {
    const std::optional<std::size_t> time = ParseStepTime(schema.columns[i].metric);
    if (!time) continue;
    for (std::size_t row = 0; row < table.rows; ++row) {
      if (!table.columns[i].Has(row)) continue;
      SetStepTime(steps[row], *time, Duration(table.columns[i].values[row]));
    }
  }
  return steps;
}

Result<std::vector<Step>> DecodeSteps(std::string_view payload, const Schema& schema) {
  const Result<Table> table = DecodeTable(payload);
  if (!table) return table.error();
  if (table->columns.size() != schema.columns.size()) {
    return Internal("steps: not as their schema says");
  }
  return StepsOf(schema, *table);
}

Status ForEachStepBlock(Connection& connection, std::int64_t job_id,
                        const std::vector<std::int64_t>& ids, const TakeStepBlock& take) {
  if (ids.empty()) return {};
  const Result<Rows> rows = connection.Query(kLoad, {job_id, Parameter::Array(ids)});
  if (!rows) return rows.error();
  if (rows->size() != ids.size()) return Conflict("steps: blocks were merged meanwhile");
  std::set<std::int64_t> hashes;
  for (std::size_t i = 0; i < rows->size(); ++i) hashes.insert(rows->Int(i, 1));
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, hashes);
  if (!schemas) return schemas.error();
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto schema = schemas->find(rows->Int(i, 1));
    if (schema == schemas->end()) return Internal("steps: their schema is gone");
    const Result<std::vector<Step>> steps = DecodeSteps(rows->BytesView(i, 2), schema->second);
    if (!steps) return steps.error();
    take(rows->Int(i, 0), *steps);
  }
  return {};
}

void SortSteps(std::vector<Step>& steps) {
  const auto key = [](const Step& step) { return std::tuple(step.start, step.number); };
  const auto wrong = [&](const Step& a, const Step& b) { return key(a) >= key(b); };
  if (std::ranges::adjacent_find(steps, wrong) == steps.end()) return;  // the usual case
  std::ranges::stable_sort(steps, {}, key);
  const auto again = std::ranges::unique(steps, {}, key);
  steps.erase(again.begin(), again.end());
}

Result<StepBlocks> LoadStepBlocks(Connection& connection, const StepQuery& query,
                                  std::size_t budget) {
  for (int turn = 1;; ++turn) {
    Result<StepBlocks> found = LoadListed(connection, query, budget);
    const bool merged = !found && found.error().code == Code::kConflict;
    if (!merged || turn == kMostTurns) return found;
  }
}

Result<std::vector<Step>> TakeStepBlocks(Connection& connection, std::int64_t job_id, int rank,
                                         std::int64_t from_us, std::int64_t to_us,
                                         std::size_t most_blocks) {
  const Result<Rows> rows = connection.Query(
      kTouched, {job_id, rank, from_us, to_us, static_cast<std::int64_t>(kStepsPerBlock)});
  if (!rows) return rows.error();
  if (rows->size() > most_blocks) return std::vector<Step>{};
  std::vector<std::int64_t> ids;
  for (std::size_t i = 0; i < rows->size(); ++i) ids.push_back(rows->Int(i, 0));
  Result<std::vector<Step>> steps = Load(connection, job_id, ids);
  if (!steps || ids.empty()) return steps;
  const Result<Rows> deleted = connection.Query(kDelete, {job_id, Parameter::Array(ids)});
  if (!deleted) return deleted.error();
  return steps;
}

Result<std::size_t> SaveStepBlocks(Connection& connection, std::int64_t job_id, int rank,
                                   std::span<const Step> steps) {
  std::vector<std::span<const Step>> pieces;
  std::vector<EncodedTable> encoded;
  std::vector<std::string> summaries;
  for (std::size_t from = 0; from < steps.size(); from += kStepsPerBlock) {
    pieces.push_back(steps.subspan(from, std::min(kStepsPerBlock, steps.size() - from)));
    encoded.push_back(Encode(pieces.back(), rank));
    summaries.push_back(EncodeSummary(SummariseBlock(pieces.back())));
  }
  if (Status done = SaveSchemas(connection, job_id, encoded); !done) return done.error();
  using Piece = std::span<const Step>;
  const std::span<const Piece> rows(pieces);
  const std::span<const EncodedTable> tables(encoded);
  const Result<Rows> inserted = connection.Query(
      kInsert, {job_id, rank, Numbers(tables, [](const EncodedTable& t) { return t.schema_hash; }),
                Numbers(rows, [](const Piece& p) { return ToMicros(p.front().start); }),
                Numbers(rows, [](const Piece& p) { return ToMicros(p.back().start); }),
                Numbers(rows, [](const Piece& p) { return p.size(); }),
                Blobs(tables, [](const EncodedTable& t) { return std::string_view(t.payload); }),
                Blobs(std::span<const std::string>(summaries),
                      [](const std::string& bytes) { return std::string_view(bytes); })});
  if (!inserted) return inserted.error();
  return pieces.size();
}

}  // namespace stepscope
