#include "server/store/ticks/ticks.h"

// Ticks of a node, put together from frames and blocks: each instant once, only what is asked for.

#include <algorithm>
#include <numeric>
#include <utility>

#include "server/store/frames/stored_frames.h"
#include "server/store/ticks/blocks.h"
#include "server/store/ticks/join_ticks.h"
#include "server/store/ticks/short_range.h"

namespace stepscope {
namespace {

// Tables read from blocks or frames, and the time before which they are complete.
struct Found {
  std::vector<TickTable> tables;
  std::int64_t complete_before_us = INT64_MAX;
  bool all = true;         // everything was read
  bool all_listed = true;  // every listed frame was read
};

Status ReadFrames(Connection& connection, const TickQuery& query, const std::vector<FrameKey>& keys,
                  std::size_t budget, ValueBudget& values, Found& found) {
  const FrameChoice choice = ChooseFrames(keys, budget, query.after_us);
  found.complete_before_us = choice.complete_before_us;
  found.all = choice.all;
  found.all_listed = choice.count == keys.size();
  const Result<Schemas> schemas = LoadSchemas(connection, query.job_id, keys, choice.count);
  if (!schemas) return schemas.error();
  const auto take = [&](const Schema* schema, const std::string& payload) -> Status {
    if (!schema || payload.empty()) return {};  // a frame that is gone is in blocks by now
    Result<TickTable> table = DecodeTicks(payload, *schema, query.filter, &values);
    if (!table) return table.error();
    found.tables.push_back(std::move(*table));
    return {};
  };
  return ForEachFrame(connection, query.job_id, keys, choice.count, *schemas, take);
}

// The number of the oldest block windows that have enough rows.
std::size_t ChooseBlockWindows(const std::vector<BlockWindow>& windows, std::size_t budget) {
  std::size_t count = 0, rows = 0;
  while (count < windows.size() && (count == 0 || rows <= budget)) {
    rows += static_cast<std::size_t>(windows[count++].rows);
  }
  return count;
}

Status ReadBlocks(Connection& connection, const TickQuery& query, std::size_t budget,
                  ValueBudget& values, Found& found) {
  BlockQuery blocks{.job_id = query.job_id,
                    .node_id = query.node_id,
                    .from_us = std::max<std::int64_t>(query.after_us, 0),
                    .until_us = query.until_us,
                    .filter = query.filter};
  if (blocks.until_us - blocks.from_us > kShortUs) {
    const Result<std::vector<BlockWindow>> windows = ListBlockWindows(connection, blocks);
    if (!windows) return windows.error();
    if (windows->empty()) return {};
    const std::size_t count = ChooseBlockWindows(*windows, budget);
    blocks.until_us = (*windows)[count - 1].window_us;
    if (count < windows->size()) {
      found.all = false;
      found.complete_before_us = std::min(found.complete_before_us, (*windows)[count].window_us);
    }
  }
  Result<std::vector<TickTable>> tables = LoadBlocks(connection, blocks, values);
  if (!tables) return tables.error();
  std::ranges::move(*tables, std::back_inserter(found.tables));
  return {};
}

TickTable Joined(const TickQuery& query, Found found) {
  const std::int64_t until_us = std::min(query.until_us, found.complete_before_us - 1);
  const TickBounds bounds{query.after_us, until_us, query.most_rows, query.most_values};
  TickTable table = JoinTicks(std::move(found.tables), bounds);
  table.complete = found.all && table.at_us.size() < bounds.MostRows(table.series.size());
  return table;
}

Result<TickTable> ReadLong(Connection& connection, const TickQuery& query) {
  FrameQuery wanted;
  wanted.job_id = query.job_id;
  wanted.node_id = query.node_id;
  wanted.after_us = query.after_us;
  wanted.until_us = query.until_us;
  // Where frames overlap, the complete part may be empty; then more is read.
  for (std::size_t budget = query.most_rows;; budget *= 2) {
    // Frames are read first: ticks that are compacted meanwhile are in both, instead of in none.
    const Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
    if (!keys) return keys.error();
    Found found;
    ValueBudget values(query.most_values);
    Status read = ReadFrames(connection, query, *keys, budget, values, found);
    if (read) read = ReadBlocks(connection, query, budget, values, found);
    if (!read) return read.error();
    const bool all = found.all, stuck = keys->size() >= kMostFramesListed && found.all_listed;
    TickTable table = Joined(query, std::move(found));
    if (!table.at_us.empty() || all) return table;
    if (stuck) return TooManyFrames();
  }
}

// The frames of a node that have ticks in the range.
std::vector<FrameKey> Within(const TickQuery& query, const std::vector<FrameKey>& keys) {
  std::vector<FrameKey> within;
  std::ranges::copy_if(keys, std::back_inserter(within), [&](const FrameKey& key) {
    return key.to_us > query.after_us && key.from_us <= query.until_us;
  });
  return within;
}

// Splits the range at the end of a block window about in its middle.
std::pair<TickQuery, TickQuery> HalvesOf(const TickQuery& query) {
  const std::int64_t first_us = BlockWindowOf(query.after_us + 1),
                     last_us = BlockWindowOf(query.until_us);
  std::pair halves{query, query};
  halves.second.after_us = BlockWindowOf(std::midpoint(first_us, last_us)) + kBlockWindowUs - 1;
  halves.first.until_us = halves.second.after_us;
  return halves;
}

// Whether halves are worth it: a frame in both halves is decoded twice, and with many such frames,
// as with rows of many years in one, halves are no less work than the whole.
bool AreLess(const std::vector<FrameKey>& before, const std::vector<FrameKey>& behind,
             std::size_t whole) {
  return (before.size() + behind.size() - whole) * 8 <= whole;
}

// `keys` are frames of one node, at least one. The range is halved until a part has few values or
// is one block window.
Status TakeFresh(Connection& connection, TickQuery query, const std::vector<FrameKey>& keys,
                 const TakeTicks& take) {
  const std::int64_t first_us = std::ranges::min(keys, {}, &FrameKey::from_us).from_us;
  const std::int64_t last_us = std::ranges::max(keys, {}, &FrameKey::to_us).to_us;
  query.after_us = std::max(query.after_us, first_us - 1);
  query.until_us = std::min(query.until_us, last_us);
  if (query.after_us >= query.until_us) return {};
  const auto [before, behind] = HalvesOf(query);
  const std::vector<FrameKey> its_before = Within(before, keys), its_behind = Within(behind, keys);
  const bool halves = BlockWindowOf(query.after_us + 1) < BlockWindowOf(query.until_us) &&
                      AreLess(its_before, its_behind, keys.size());
  Found found;
  ValueBudget values(halves ? std::min(query.most_values, kValuesAtOnce) : query.most_values);
  const Status read = ReadFrames(connection, query, keys, SIZE_MAX, values, found);
  if (read) {
    const TickBounds bounds{query.after_us, query.until_us};
    return take({keys.front().node_id, JoinTicks(std::move(found.tables), bounds)});
  }
  if (!halves || read.error().code != Code::kInvalid) return read;
  found = {};
  const Status taken = TakeFresh(connection, before, its_before, take);
  return taken ? TakeFresh(connection, behind, its_behind, take) : taken;
}

}  // namespace

Result<TickTable> ReadTicks(Connection& connection, const TickQuery& query) {
  if (IsShort(query)) {
    Result<std::optional<std::vector<TickTable>>> tables = ReadShortRange(connection, query);
    if (!tables) return tables.error();
    if (*tables) return Joined(query, {.tables = std::move(**tables)});
  }
  return ReadLong(connection, query);
}

Status ForEachFreshNode(Connection& connection, const TickQuery& query, const TakeTicks& take) {
  FrameQuery wanted;
  wanted.job_id = query.job_id;
  if (query.node_id != 0) wanted.node_id = query.node_id;
  wanted.after_us = query.after_us;
  wanted.until_us = query.until_us;
  Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
  if (!keys) return keys.error();
  if (keys->size() >= kMostFramesListed) return TooManyFrames();
  std::ranges::stable_sort(*keys, {}, &FrameKey::node_id);
  for (auto from = keys->begin(); from != keys->end();) {
    const auto to = std::find_if(from, keys->end(),
                                 [&](const FrameKey& key) { return key.node_id != from->node_id; });
    if (Status taken = TakeFresh(connection, query, {from, to}, take); !taken) return taken;
    from = to;
  }
  return {};
}

}  // namespace stepscope
