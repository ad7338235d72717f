#include "server/store/annotations/annotation_blocks.h"

#include <algorithm>
#include <array>
#include <functional>
#include <iterator>
#include <set>
#include <vector>

#include "core/model/span_bins.h"
#include "core/wire/frame.h"
#include "core/wire/table_codec.h"
#include "server/store/frames/stored_frames.h"
#include "server/store/jobs/capped_sum.h"
#include "server/store/postgres/arrays.h"
#include "server/store/postgres/cursor.h"
#include "server/store/ticks/block_tables.h"
#include "server/store/ticks/blocks.h"

namespace stepscope {
namespace {

constexpr char kTake[] = R"(
delete from annotation_blocks
where job_id = $1 and rank = $2 and window_us = any($3::bigint[])
returning schema_hash, payload, rank, window_us)";
constexpr char kInsertAnnotations[] = R"(
insert into annotation_blocks (job_id, rank, window_us, schema_hash, from_us, to_us, rows, payload)
select $1::bigint, $2::integer, window_us, schema_hash, from_us, to_us, rows, payload
from unnest($3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[], $7::bigint[], $8::bytea[])
    as given (window_us, schema_hash, from_us, to_us, rows, payload)
order by window_us)";
constexpr char kLoadAnnotations[] = R"(
select schema_hash, payload, rank, window_us
from annotation_blocks
where job_id = $1 and rank = any($2::bigint[]) and (rank, window_us) > ($3::integer, $4::bigint)
order by rank, window_us
limit 500)";
constexpr std::size_t kMostLoaded = 500;  // a frame has 16,384 rows at most

// In the order of the table's columns after the name.
constexpr std::array<std::int64_t AnnotationSum::*, 6> kFields = {
    &AnnotationSum::from_us, &AnnotationSum::to_us,  &AnnotationSum::count,
    &AnnotationSum::sum_ns,  &AnnotationSum::min_ns, &AnnotationSum::max_ns};
constexpr const char* kColumns[] = {"name",   "from_us", "to_us", "count",
                                    "sum_ns", "min_ns",  "max_ns"};

using TakeSum = std::function<void(const std::string& name, const AnnotationSum& sum)>;

Status ForEachSum(std::string_view payload, const Schema& schema, const TakeSum& take) {
  const Result<Table> table = DecodeTable(payload);
  if (!table) return table.error();
  if (table->columns.size() != std::size(kColumns)) {
    return Internal("annotations: not as their schema says");
  }
  for (std::size_t row = 0; row < table->rows; ++row) {
    const auto name = static_cast<std::size_t>(table->columns[0].values[row]);
    if (name >= schema.names.size()) continue;
    AnnotationSum sum;
    for (std::size_t i = 0; i < kFields.size(); ++i) {
      sum.*kFields[i] = table->columns[i + 1].values[row];
    }
    take(schema.names[name], sum);
  }
  return {};
}

void Add(AnnotationSum& all, const AnnotationSum& sum) {
  all.from_us = std::min(all.from_us, sum.from_us);
  all.to_us = std::max(all.to_us, sum.to_us);
  all.min_ns = all.count == 0 ? sum.min_ns : std::min(all.min_ns, sum.min_ns);
  all.max_ns = std::max(all.max_ns, sum.max_ns);
  all.count = CappedSum(all.count, sum.count);
  all.sum_ns = CappedSum(all.sum_ns, sum.sum_ns);
}

int BinOf(const AnnotationSum& sum) {
  const int bin = SpanBinOf(sum.min_ns);
  return SpanBinOf(sum.max_ns) == bin ? bin : kNoBin;
}

void Add(AnnotationBins& bins, int bin, const AnnotationSum& sum) {
  const auto [found, fresh] = bins.try_emplace(bin, sum);
  if (!fresh) Add(found->second, sum);
}

std::size_t CountBins(const AnnotationSums& sums) {
  std::size_t count = 0;
  for (const auto& [name, bins] : sums) count += bins.size();
  return count;
}

EncodedTable Encode(const AnnotationSums& sums, int rank) {
  Schema schema{rank, {}, {}};
  for (const char* column : kColumns) schema.columns.push_back({column, ""});
  Table table{CountBins(sums), std::vector<Column>(std::size(kColumns))};
  for (const auto& [name, bins] : sums) {
    for (const auto& [bin, sum] : bins) {
      table.columns[0].values.push_back(static_cast<std::int64_t>(schema.names.size()));
      for (std::size_t i = 0; i < kFields.size(); ++i) {
        table.columns[i + 1].values.push_back(sum.*kFields[i]);
      }
    }
    schema.names.push_back(name);
  }
  return {static_cast<std::int64_t>(HashSchema(schema)), EncodeSchema(schema), EncodeTable(table)};
}

using TakeRow = std::function<Status(std::size_t row, std::string_view payload, const Schema&)>;

// Decodes rows that begin with the hash of a schema and a payload.
Status ForEachBlock(Connection& connection, std::int64_t job_id, const Result<Rows>& rows,
                    const TakeRow& take) {
  if (!rows) return rows.error();
  std::set<std::int64_t> hashes;
  for (std::size_t i = 0; i < rows->size(); ++i) hashes.insert(rows->Int(i, 0));
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, hashes);
  if (!schemas) return schemas.error();
  for (std::size_t i = 0; i < rows->size(); ++i) {
    const auto schema = schemas->find(rows->Int(i, 0));
    if (schema == schemas->end()) return Internal("annotations: their schema is gone");
    if (Status taken = take(i, rows->BytesView(i, 1), schema->second); !taken) return taken;
  }
  return {};
}

}  // namespace

AnnotationSum SumOf(const AnnotationBins& bins) {
  AnnotationSum all = bins.begin()->second;
  for (auto next = std::next(bins.begin()); next != bins.end(); ++next) Add(all, next->second);
  return all;
}

Status AddAnnotations(AnnotationSums& sums, std::string_view payload, const Schema& schema) {
  return ForEachSum(payload, schema, [&](const std::string& name, const AnnotationSum& sum) {
    Add(sums[name], BinOf(sum), sum);
  });
}

Status AddAnnotations(AnnotationWindows& windows, std::string_view payload, const Schema& schema) {
  return ForEachSum(payload, schema, [&](const std::string& name, const AnnotationSum& sum) {
    Add(windows[BlockWindowOf(sum.from_us)][name], BinOf(sum), sum);
  });
}

std::size_t AddWindows(AnnotationWindows& windows, const AnnotationWindows& more) {
  std::size_t left_out = 0;
  for (const auto& [window_us, sums] : more) {
    AnnotationSums& window = windows[window_us];
    std::size_t count = CountBins(window);
    for (const auto& [name, bins] : sums) {
      if (window.size() >= kMostAnnotationNames && !window.contains(name)) {
        left_out += bins.size();
        continue;
      }
      AnnotationBins& all = window[name];
      for (const auto& [bin, sum] : bins) {
        const std::size_t before = all.size();
        const bool room = count < kMostAnnotationBins || all.contains(bin);
        Add(all, room ? bin : kNoBin, sum);
        count += all.size() - before;
      }
    }
  }
  return left_out;
}

Result<AnnotationWindows> TakeAnnotationBlocks(Connection& connection, std::int64_t job_id,
                                               int rank, const AnnotationWindows& of) {
  std::vector<std::int64_t> wanted;
  for (const auto& [window_us, sums] : of) wanted.push_back(window_us);
  const Result<Rows> rows = connection.Query(kTake, {job_id, rank, Parameter::Array(wanted)});
  AnnotationWindows windows;
  const Status read =
      ForEachBlock(connection, job_id, rows,
                   [&](std::size_t row, std::string_view payload, const Schema& schema) {
                     return AddAnnotations(windows[rows->Int(row, 3)], payload, schema);
                   });
  if (!read) return read.error();
  return windows;
}

Status InsertAnnotationBlocks(Connection& connection, std::int64_t job_id, int rank,
                              const AnnotationWindows& windows) {
  std::vector<std::int64_t> windows_us, from_us, to_us, counts;
  std::vector<EncodedTable> encoded;
  for (const auto& [window_us, sums] : windows) {
    windows_us.push_back(window_us);
    from_us.push_back(INT64_MAX);
    to_us.push_back(INT64_MIN);
    for (const auto& [name, bins] : sums) {
      const AnnotationSum sum = SumOf(bins);
      from_us.back() = std::min(from_us.back(), sum.from_us);
      to_us.back() = std::max(to_us.back(), sum.to_us);
    }
    counts.push_back(static_cast<std::int64_t>(CountBins(sums)));
    encoded.push_back(Encode(sums, rank));
  }
  if (Status done = SaveSchemas(connection, job_id, encoded); !done) return done;
  const std::span<const EncodedTable> tables(encoded);
  return Done(connection.Query(
      kInsertAnnotations,
      {job_id, rank, Parameter::Array(windows_us),
       Numbers(tables, [](const EncodedTable& t) { return t.schema_hash; }),
       Parameter::Array(from_us), Parameter::Array(to_us), Parameter::Array(counts),
       Blobs(tables, [](const EncodedTable& t) { return std::string_view(t.payload); })}));
}

Result<std::map<int, AnnotationSums>> SumAnnotationBlocks(Connection& connection,
                                                          std::int64_t job_id,
                                                          std::span<const int> ranks) {
  const std::vector<std::int64_t> wanted(ranks.begin(), ranks.end());
  std::map<int, AnnotationSums> sums;
  int rank = -1;
  std::int64_t window_us = 0;
  for (std::size_t loaded = kMostLoaded; loaded == kMostLoaded;) {
    const Result<Rows> rows =
        connection.Query(kLoadAnnotations, {job_id, Parameter::Array(wanted), rank, window_us});
    const Status read =
        ForEachBlock(connection, job_id, rows,
                     [&](std::size_t row, std::string_view payload, const Schema& schema) {
                       rank = static_cast<int>(rows->Int(row, 2));
                       window_us = rows->Int(row, 3);
                       return AddAnnotations(sums[rank], payload, schema);
                     });
    if (!read) return read.error();
    loaded = rows->size();
  }
  return sums;
}

}  // namespace stepscope
