#include "server/store/annotations/span_blocks.h"

#include <array>
#include <set>

#include "core/base/text.h"
#include "core/model/span_table.h"
#include "core/wire/table_codec.h"
#include "server/store/frames/stored_frames.h"
#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"

namespace stepscope {
namespace {

constexpr std::size_t kBlocksAtOnce = 16;
constexpr std::size_t kMostBlocks = 256;  // read for one page at most
constexpr char kInsertSpans[] = R"(
insert into span_blocks (job_id, window_id, rank, session, sequence, schema_hash, from_us, to_us,
    rows, payload)
select job_id, window_id, rank, session, sequence, schema_hash, from_us, to_us, rows, payload
from unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bytea[], $5::bigint[], $6::bigint[],
    $7::bigint[], $8::bigint[], $9::bigint[], $10::bytea[])
    as given (job_id, window_id, rank, session, sequence, schema_hash, from_us, to_us, rows,
        payload))";
constexpr char kCount[] = R"(
update windows
set spans = spans + $3
where job_id = $1 and window_id = $2)";
// Starts with the block of the cursor.
constexpr char kLoadSpans[] = R"(
select rank, session, sequence, schema_hash, payload
from span_blocks
where job_id = $1 and window_id = $2 and ($3::bigint is null or rank = $3)
    and (rank, session, sequence) >= ($4::bigint, $5::bytea, $6::bigint)
order by rank, session, sequence
limit 16)";

// The next row to read: a block, and a row of its table.
struct SpanPosition {
  std::int64_t rank = -1;
  std::string session{};
  std::int64_t sequence = 0, row = 0;
};

Result<SpanPosition> ReadCursor(const std::string& cursor) {
  if (cursor.empty()) return SpanPosition{};
  const Result<Json> json = DecodeCursor(cursor, Json::array({0, "", 0, 0}));
  if (!json) return json.error();
  SpanPosition position{(*json)[0].get<std::int64_t>(),
                        {},
                        (*json)[2].get<std::int64_t>(),
                        (*json)[3].get<std::int64_t>()};
  const auto session = FromHex((*json)[1].get<std::string>());
  if (!session || position.row < 0) return Invalid("cursor: not one of this list");
  position.session = *session;
  return position;
}

std::string CursorOf(const SpanPosition& position) {
  return EncodeCursor(
      Json::array({position.rank, ToHex(position.session), position.sequence, position.row}));
}

std::int64_t At(const Table& table, SpanColumn column, std::size_t row) {
  return table.columns[static_cast<std::size_t>(column)].values[row];
}

// Adds rows from `position` on until the page has one more than it may show; `position` is then the
// first row that was not read.
Status AddRows(const Table& table, const Schema& schema, const SpanQuery& query,
               SpanPosition& position, SpanPage& page) {
  if (table.columns.size() != std::size(kSpanColumns)) {
    return Internal("spans: not as their schema says");
  }
  for (; position.row < static_cast<std::int64_t>(table.rows); ++position.row) {
    const auto row = static_cast<std::size_t>(position.row);
    const auto name = static_cast<std::size_t>(At(table, SpanColumn::kName, row));
    if (name >= schema.names.size()) return Internal("spans: a name that is not in their schema");
    if (!query.name.empty() && schema.names[name] != query.name) continue;
    if (page.items.size() == query.limit) {
      page.next = CursorOf(position);
      return {};
    }
    page.items.push_back({schema.rank, At(table, SpanColumn::kProcess, row),
                          At(table, SpanColumn::kThread, row), At(table, SpanColumn::kStep, row),
                          At(table, SpanColumn::kStartNs, row),
                          At(table, SpanColumn::kDurationNs, row), schema.names[name]});
  }
  return {};
}

Status AddBlocks(Connection& connection, const Rows& rows, const SpanQuery& query,
                 SpanPosition& position, SpanPage& page) {
  std::set<std::int64_t> hashes;
  for (std::size_t i = 0; i < rows.size(); ++i) hashes.insert(rows.Int(i, 3));
  const Result<Schemas> schemas = LoadSchemas(connection, query.job_id, hashes);
  if (!schemas) return schemas.error();
  for (std::size_t i = 0; i < rows.size() && page.next.empty(); ++i) {
    const SpanPosition block{rows.Int(i, 0), rows.Bytes(i, 1), rows.Int(i, 2), 0};
    const bool same = block.rank == position.rank && block.session == position.session &&
                      block.sequence == position.sequence;
    if (!same) position = block;
    const auto schema = schemas->find(rows.Int(i, 3));
    if (schema == schemas->end()) return Internal("spans: their schema is gone");
    const Result<Table> table = DecodeTable(rows.BytesView(i, 4));
    if (!table) return table.error();
    if (Status added = AddRows(*table, schema->second, query, position, page); !added) return added;
  }
  return {};
}

}  // namespace

Status InsertSpanBlocks(Connection& connection, std::span<const NewSpanBlock> blocks) {
  if (blocks.empty()) return {};
  using Row = NewSpanBlock;
  return Done(connection.QueryByKey(kInsertSpans,
                                    {Numbers(blocks, [](const Row& b) { return b.job_id; }),
                                     Numbers(blocks, [](const Row& b) { return b.window_id; }),
                                     Numbers(blocks, [](const Row& b) { return b.rank; }),
                                     Blobs(blocks, [](const Row& b) { return b.session; }),
                                     Numbers(blocks, [](const Row& b) { return b.sequence; }),
                                     Numbers(blocks, [](const Row& b) { return b.schema_hash; }),
                                     Numbers(blocks, [](const Row& b) { return b.from_us; }),
                                     Numbers(blocks, [](const Row& b) { return b.to_us; }),
                                     Numbers(blocks, [](const Row& b) { return b.rows; }),
                                     Blobs(blocks, [](const Row& b) { return b.payload; })}));
}

Status CountSpans(Connection& connection, std::int64_t job_id, std::int64_t window_id,
                  std::int64_t more) {
  return Done(connection.QueryByKey(kCount, {job_id, window_id, more}));
}

Result<SpanPage> ReadSpans(Connection& connection, const SpanQuery& query) {
  Result<SpanPosition> position = ReadCursor(query.after);
  if (!position) return position.error();
  SpanPage page;
  std::size_t blocks_read = 0;  // blocks: a rare name may be in none of very many
  for (std::size_t loaded = kBlocksAtOnce; loaded == kBlocksAtOnce && page.next.empty();) {
    const Result<Rows> rows =
        connection.Query(kLoadSpans, {query.job_id, query.window_id, query.rank, position->rank,
                                      Parameter::Bytes(position->session), position->sequence});
    if (!rows) return rows.error();
    if (Status added = AddBlocks(connection, *rows, query, *position, page); !added) {
      return added.error();
    }
    loaded = rows->size();
    blocks_read += loaded;
    if (!page.next.empty() || loaded < kBlocksAtOnce) continue;
    ++position->sequence, position->row = 0;
    if (blocks_read >= kMostBlocks) page.next = CursorOf(*position);
  }
  return page;
}

}  // namespace stepscope
