// Ticks of a node, put together from frames: sorted, each instant once, only the columns asked for.

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "server/store/series.h"
#include "server/store/stored_frames.h"

namespace stepscope {
namespace {

constexpr char kRanges[] = R"(
select node_id,
    (select from_us from frames f where f.job_id = n.job_id and kind = 1 and f.node_id = n.node_id
        order by to_us limit 1),
    (select to_us from frames f where f.job_id = n.job_id and kind = 1 and f.node_id = n.node_id
        order by to_us desc limit 1)
from nodes n
where job_id = $1
order by node_id
limit 10000)";

using Places = std::map<SeriesName, std::size_t>;

bool IsWanted(const SeriesName& series, const TickQuery& query) {
  if (query.device && series.device != *query.device) return false;
  return query.metrics.empty() || std::ranges::count(query.metrics, series.metric) > 0;
}

// Where each wanted series stands in the answer.
Places PlacesOf(const std::map<std::int64_t, Schema>& schemas, const TickQuery& query) {
  Places places;
  for (const auto& [hash, schema] : schemas) {
    for (std::size_t i = 1; i < schema.columns.size(); ++i) {
      if (IsWanted(schema.columns[i], query)) places[schema.columns[i]] = 0;
    }
  }
  std::size_t next = 0;
  for (auto& [series, place] : places) place = next++;
  return places;
}

// One frame's part: its times, and the wanted columns with their place.
struct Part {
  std::vector<std::int64_t> at_us;
  std::vector<std::pair<std::size_t, Column>> columns;
};

Result<Part> ReadPart(const std::string& payload, const Schema& schema, const Places& places) {
  const Result<TableReader> reader = TableReader::Open(payload);
  if (!reader) return reader.error();
  if (reader->columns() != schema.columns.size())
    return Internal("ticks: not as their schema says");
  Result<Column> times = reader->Read(0);
  if (!times) return times.error();
  Part part{std::move(times->values), {}};
  for (std::size_t i = 1; i < schema.columns.size(); ++i) {
    const auto place = places.find(schema.columns[i]);
    if (place == places.end()) continue;
    Result<Column> column = reader->Read(i);
    if (!column) return column.error();
    part.columns.emplace_back(place->second, std::move(*column));
  }
  return part;
}

Result<std::vector<Part>> ReadParts(Connection& connection, const TickQuery& query,
                                    const std::vector<FrameKey>& keys, std::size_t count,
                                    const std::map<std::int64_t, Schema>& schemas,
                                    const Places& places) {
  std::vector<Part> parts;
  for (std::size_t from = 0; from < count; from += kPayloadsAtOnce) {
    const std::size_t some = std::min(kPayloadsAtOnce, count - from);
    const auto payloads = LoadPayloads(connection, query.job_id, keys, from, some);
    if (!payloads) return payloads.error();
    for (std::size_t i = 0; i < some; ++i) {
      const auto schema = schemas.find(keys[from + i].schema_hash);
      if ((*payloads)[i].empty() || schema == schemas.end()) continue;
      Result<Part> part = ReadPart((*payloads)[i], schema->second, places);
      if (!part) return part.error();
      parts.push_back(std::move(*part));
    }
  }
  return parts;
}

struct Row {
  std::int64_t at_us;
  std::uint32_t part, row;
};

// The rows of all parts in the range, by time; of several at one instant the first part's.
std::vector<Row> OrderRows(const std::vector<Part>& parts, const TickQuery& query,
                           std::int64_t before_us) {
  std::vector<Row> rows;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    for (std::size_t r = 0; r < parts[p].at_us.size(); ++r) {
      const std::int64_t at_us = parts[p].at_us[r];
      if (at_us <= query.after_us || at_us > query.until_us || at_us >= before_us) continue;
      rows.push_back({at_us, static_cast<std::uint32_t>(p), static_cast<std::uint32_t>(r)});
    }
  }
  std::ranges::stable_sort(rows, {}, &Row::at_us);
  const auto again = std::ranges::unique(rows, {}, &Row::at_us);
  rows.erase(again.begin(), again.end());
  if (rows.size() > query.most_rows) rows.resize(query.most_rows);
  return rows;
}

// The same value at another scale, as near as int64 allows.
std::int64_t Rescaled(std::int64_t value, std::uint8_t from, std::uint8_t to) {
  std::int64_t scaled = 0;
  if (!__builtin_mul_overflow(value, PowerOfTen(static_cast<std::uint8_t>(to - from)), &scaled)) {
    return scaled;
  }
  return value < 0 ? INT64_MIN : INT64_MAX;
}

void FillColumns(TickTable& table, const std::vector<Part>& parts, const std::vector<Row>& rows) {
  for (const Part& part : parts) {
    for (const auto& [place, column] : part.columns) {
      table.columns[place].scale = std::max(table.columns[place].scale, column.scale);
    }
  }
  for (Column& column : table.columns) {
    column.values.assign(rows.size(), 0);
    column.present.assign(rows.size(), 0);
  }
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [place, column] : parts[rows[i].part].columns) {
      if (!column.Has(rows[i].row)) continue;
      Column& out = table.columns[place];
      out.values[i] = Rescaled(column.values[rows[i].row], column.scale, out.scale);
      out.present[i] = 1;
    }
  }
  for (Column& column : table.columns) {
    if (std::ranges::count(column.present, 0) == 0) column.present.clear();
  }
}

Result<TickTable> ReadChosen(Connection& connection, const TickQuery& query,
                             const std::vector<FrameKey>& keys, const FrameChoice& choice) {
  const auto schemas = LoadSchemas(connection, query.job_id, keys, choice.count);
  if (!schemas) return schemas.error();
  const Places places = PlacesOf(*schemas, query);
  const auto parts = ReadParts(connection, query, keys, choice.count, *schemas, places);
  if (!parts) return parts.error();
  const std::vector<Row> rows = OrderRows(*parts, query, choice.complete_before_us);
  TickTable table;
  table.columns.resize(places.size());
  for (const auto& [series, place] : places) table.series.push_back(series);
  for (const Row& row : rows) table.at_us.push_back(row.at_us);
  FillColumns(table, *parts, rows);
  return table;
}

}  // namespace

Result<TickTable> ReadTicks(Connection& connection, const TickQuery& query) {
  FrameQuery wanted;
  wanted.job_id = query.job_id;
  wanted.node_id = query.node_id;
  wanted.after_us = query.after_us;
  wanted.until_us = query.until_us;
  const Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
  if (!keys) return keys.error();
  // Frames that overlap may leave nothing that is complete; then more of them are read.
  for (std::size_t budget = query.most_rows;; budget *= 2) {
    const FrameChoice choice = ChooseFrames(*keys, budget, query.after_us);
    Result<TickTable> table = ReadChosen(connection, query, *keys, choice);
    if (!table || !table->at_us.empty() || choice.count == keys->size()) return table;
  }
}

Result<std::vector<TickRange>> ReadTickRanges(Connection& connection, std::int64_t job_id) {
  const Result<Rows> rows = connection.Query(kRanges, {job_id});
  if (!rows) return rows.error();
  std::vector<TickRange> ranges;
  for (std::size_t i = 0; i < rows->size(); ++i) {
    if (rows->IsNull(i, 1)) continue;
    ranges.push_back({rows->Int(i, 0), rows->Int(i, 1), rows->Int(i, 2)});
  }
  return ranges;
}

}  // namespace stepscope
