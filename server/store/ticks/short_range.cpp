#include "server/store/ticks/short_range.h"

#include <algorithm>
#include <map>
#include <set>
#include <tuple>

#include "core/base/text.h"
#include "core/wire/frame.h"
#include "server/store/ticks/block_cache.h"
#include "server/store/ticks/blocks.h"
#include "server/store/ticks/ticks.h"

namespace stepscope {
namespace {

constexpr int kFewFrames = 512;  // ten minutes have a few hundred at most

// Reads frames with their content, and of blocks either the versions of the rows or their content.
// A row that is written again has another xmin. Each block of a list of metrics is found by its
// key: a scan of the windows would see the blocks of a hundred metrics. The keys are one list of
// pairs, since joining two lists takes as long as the rest.
constexpr std::string_view kAtOnce = R"(
(select 0 as part, f.schema_hash,
    (select content from schemas s where s.job_id = $1 and s.schema_hash = f.schema_hash),
    f.payload, 0::bigint as window_us, ''::text as metric, null::xid, null::tid, 0::bigint as bytes
from frames f
where f.job_id = $1 and f.kind = 1 and f.node_id = $2 and f.to_us > $3 and f.from_us <= $4
order by f.from_us, f.session, f.sequence
limit $5)
union all
(select 1, b.schema_hash, {}, b.window_us, b.metric, b.xmin, b.ctid,
    octet_length(b.payload)::bigint
from {}
where b.to_us > $3
limit 1000000))";
constexpr std::string_view kVersions = "null::bytea, null::bytea";
constexpr std::string_view kContents =
    "(select content from schemas s where s.job_id = $1 and s.schema_hash = b.schema_hash), "
    "b.payload";
constexpr std::string_view kAllMetrics = R"((
    select *, xmin, ctid
    from blocks
    where job_id = $1 and node_id = $2 and window_us between ($6::bigint[])[1] and $4
        and cardinality($7::text[]) = 0) as b)";
constexpr std::string_view kThese =
    R"(unnest($6::bigint[], $7::text[]) as wanted (window_us, metric)
cross join lateral (
    select schema_hash, to_us, window_us, metric, payload, xmin, ctid
    from blocks
    where job_id = $1 and node_id = $2 and window_us = wanted.window_us and metric = wanted.metric
    limit 1) as b)";
constexpr char kFetch[] = R"(
select 1, b.schema_hash, s.content, b.payload, b.window_us, b.metric, b.xmin, b.ctid,
    octet_length(b.payload)::bigint
from unnest($3::bigint[], $4::text[]) as wanted (window_us, metric)
cross join lateral (
    select *, xmin, ctid
    from blocks
    where job_id = $1 and node_id = $2 and window_us = wanted.window_us and metric = wanted.metric
    limit 1) as b
left join schemas s on s.job_id = $1 and s.schema_hash = b.schema_hash
order by b.window_us, b.metric
limit 1000000)";
enum Cell : std::size_t { kPart, kHash, kContent, kPayload, kWindow, kMetric, kXmin, kCtid, kSize };

std::string ListText(bool all_metrics, bool versions) {
  return Format(kAtOnce, versions ? kVersions : kContents, all_metrics ? kAllMetrics : kThese);
}

bool IsSameRange(const TickQuery& one, const TickQuery& other) {
  const auto parts = [](const TickQuery& query) {
    return std::tie(query.job_id, query.node_id, query.after_us, query.until_us, query.filter,
                    query.values_only);
  };
  return parts(one) == parts(other);
}

class ShortRange {
 public:
  ShortRange(Connection& connection, const TickQuery& query)
      : connection_(connection),
        cache_(connection.blocks()),
        query_(query),
        budget_(query.most_values) {}

  // False when there are too many frames.
  Result<bool> Read() {
    const Result<Rows> rows = List();
    if (!rows) return rows.error();
    std::size_t frames = 0;
    for (std::size_t row = 0; row < rows->size(); ++row) frames += rows->Int(row, kPart) == 0;
    if (frames >= kFewFrames) return false;
    for (std::size_t row = 0; row < rows->size(); ++row) {
      if (Status taken = Take(*rows, row); !taken) return taken.error();
    }
    if (Status taken = TakeBlocks(); !taken) return taken.error();
    return true;
  }
  std::vector<TickTable> tables() && { return std::move(tables_); }

 private:
  Result<Rows> List() {
    const FetchedTicks* fetched = query_.fetched;
    if (fetched && IsSameRange(fetched->query, query_)) return fetched->rows;
    return connection_.QueryByKey(ShortRangeStatement(connection_, query_));
  }

  // Takes blocks from the cache, or reads all blocks of a window again where one is stale, lest one
  // block have ticks that another lacks. Ticks that are compacted between both statements are in
  // the frames of the first one as well.
  Status TakeBlocks() {
    std::vector<std::int64_t> windows;
    std::vector<std::string> metrics;
    for (const auto& [key, block] : known_) {
      if (!stale_.contains(key.window_us)) {
        if (Status decoded = Decode(*block); !decoded) return decoded;
        continue;
      }
      windows.push_back(key.window_us);
      metrics.push_back(key.metric);
    }
    return windows.empty() ? Status() : Fetch(windows, metrics);
  }

  Status Fetch(const std::vector<std::int64_t>& windows, const std::vector<std::string>& metrics) {
    const Result<Rows> rows = connection_.QueryByKey(
        kFetch,
        {query_.job_id, query_.node_id, Parameter::Array(windows), Parameter::Array(metrics)});
    if (!rows) return rows.error();
    for (std::size_t row = 0; row < rows->size(); ++row) {
      const Result<BlockCache::Block> block = Open(*rows, row);
      if (!block) return block.error();
      cache_->Put(KeyOf(*rows, row), VersionOf(*rows, row), *block);
      if (Status decoded = Decode(**block); !decoded) return decoded;
    }
    return {};
  }

  Status Take(const Rows& rows, std::size_t row) {
    if (!rows.IsNull(row, kPayload)) {
      if (rows.IsNull(row, kContent)) return {};  // the schema is gone: the job is being removed
      const Result<BlockCache::Block> block = Open(rows, row);
      return block ? Decode(**block) : Status(block.error());
    }
    CachedBlockKey key = KeyOf(rows, row);
    BlockCache::Block block = cache_->Find(key, VersionOf(rows, row));
    if (!block) stale_.insert(key.window_us);
    known_.emplace_back(std::move(key), std::move(block));
    return {};
  }

  Status Decode(const OpenTable& open) {
    Result<TickTable> table = DecodeTicks(open.reader, *open.schema, query_.filter, &budget_);
    if (!table) return table.error();
    tables_.push_back(std::move(*table));
    return {};
  }

  Result<BlockCache::Block> Open(const Rows& rows, std::size_t row) {
    std::shared_ptr<const Schema>& schema = schemas_[rows.Int(row, kHash)];
    if (!schema) {
      Result<Schema> decoded = DecodeSchema(rows.BytesView(row, kContent));
      if (!decoded) return Internal("block: its schema: " + decoded.error().message);
      schema = std::make_shared<const Schema>(std::move(*decoded));
    }
    Result<TableReader> reader = TableReader::Open(rows.BytesView(row, kPayload), kBlockLimits);
    if (!reader) return reader.error();
    return std::make_shared<const OpenTable>(OpenTable{schema, std::move(*reader)});
  }

  CachedBlockKey KeyOf(const Rows& rows, std::size_t row) const {
    return {query_.job_id, query_.node_id, rows.Int(row, kWindow), rows.Text(row, kMetric)};
  }

  // The version of a row: its transaction and its position in the table. Hash and size tell
  // versions apart even after transaction numbers have wrapped around.
  static std::string VersionOf(const Rows& rows, std::size_t row) {
    std::string version;
    for (const Cell cell : {kXmin, kCtid, kHash, kSize}) version += rows.BytesView(row, cell);
    return version;
  }

  Connection& connection_;
  BlockCache* const cache_;
  const TickQuery& query_;
  ValueBudget budget_;
  std::map<std::int64_t, std::shared_ptr<const Schema>> schemas_;  // by hash
  std::vector<std::pair<CachedBlockKey, BlockCache::Block>>
      known_;                     // null: the cache has another version
  std::set<std::int64_t> stale_;  // block windows with a stale block
  std::vector<TickTable> tables_;
};

}  // namespace

Statement ShortRangeStatement(const Connection& connection, const TickQuery& query) {
  static const std::string texts[2][2] = {{ListText(false, false), ListText(false, true)},
                                          {ListText(true, false), ListText(true, true)}};
  std::vector<std::string> wanted = query.filter.metrics;
  const bool all = wanted.empty();
  if (!all && !query.values_only) wanted.emplace_back();  // the block with the times of all ticks
  std::vector<std::int64_t> windows;
  std::vector<std::string> metrics;
  std::int64_t window_us = BlockWindowOf(std::max<std::int64_t>(query.after_us, 0));
  for (; window_us <= query.until_us; window_us += kBlockWindowUs) {
    windows.insert(windows.end(), std::max<std::size_t>(wanted.size(), 1), window_us);
    metrics.insert(metrics.end(), wanted.begin(), wanted.end());
  }
  return {texts[all][connection.blocks() != nullptr],
          {query.job_id, query.node_id, query.after_us, query.until_us, kFewFrames,
           Parameter::Array(windows), Parameter::Array(metrics)}};
}

Result<std::optional<std::vector<TickTable>>> ReadShortRange(Connection& connection,
                                                             const TickQuery& query) {
  ShortRange range(connection, query);
  const Result<bool> read = range.Read();
  if (!read) return read.error();
  if (!*read) return std::optional<std::vector<TickTable>>();
  return std::optional(std::move(range).tables());
}

}  // namespace stepscope
