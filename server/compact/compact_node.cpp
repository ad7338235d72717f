#include "server/compact/compact_node.h"

#include <algorithm>

#include "server/compact/choose_frames.h"
#include "server/compact/new_blocks.h"
#include "server/compact/take_frames.h"
#include "server/compact/transaction_limits.h"
#include "server/store/job_rollups.h"
#include "server/store/removals.h"
#include "server/store/stored_frames.h"

namespace stepscope {
namespace {

Result<std::vector<TickTable>> TakeTables(Connection& connection, std::int64_t job_id,
                                          const std::vector<FrameKey>& keys, std::size_t count,
                                          const Schemas& schemas) {
  std::vector<TickTable> tables;
  const auto take = [&](const std::string& payload, const Schema& schema) -> Status {
    Result<TickTable> table = DecodeTicks(payload, schema, {});
    if (!table) return table.error();
    tables.push_back(std::move(*table));
    return {};
  };
  const Status taken = TakeFrames(connection, job_id, keys, count, schemas, take);
  if (!taken) return taken.error();
  return tables;
}

// Merges the blocks with those that are there, and writes them and their rollups.
Result<Merged> Save(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                    std::vector<StoredBlock> blocks) {
  std::vector<BlockKey> keys;
  for (const StoredBlock& block : blocks) keys.push_back(block.key);
  Result<std::vector<StoredBlock>> stored = LockBlocks(connection, job_id, node_id, keys);
  if (!stored) return stored.error();
  // After the blocks: who removes some of them says so in the same transaction.
  const Result<std::int64_t> samples_from_us = SamplesFrom(connection, job_id);
  if (!samples_from_us) return samples_from_us.error();
  const std::vector<StoredBlock> late = LateRows(blocks, *stored, *samples_from_us);
  const Merged merged = MergeBlocks(blocks, std::move(*stored));
  const std::vector<RollupKey> changed = RollupsOf(blocks);
  Result<std::vector<StoredRollup>> rollups = LockRollups(connection, job_id, node_id, changed);
  if (!rollups) return rollups.error();
  const std::vector<StoredRollup> rolled = RollUpBlocks(blocks, std::move(*rollups), late);
  if (Status done = SaveBlocks(connection, job_id, node_id, blocks); !done) return done.error();
  if (Status done = MarkStale(connection, job_id, changed); !done) return done.error();
  if (Status done = SaveRollups(connection, job_id, node_id, rolled); !done) return done.error();
  return merged;
}

// Some blocks after the other.
Status SaveAll(Connection& connection, std::int64_t job_id, std::int64_t node_id,
               const TickTable& ticks, bool clock_suspect, Compacted& done) {
  const auto save = [&](std::vector<StoredBlock> blocks) -> Status {
    done.blocks += blocks.size();
    const Result<Merged> merged = Save(connection, job_id, node_id, std::move(blocks));
    if (!merged) return merged.error();
    done.rows_left_out += merged->left_out;
    done.rows_joined += merged->joined;
    return {};
  };
  return CutBlocks(ticks, clock_suspect, kMostSeriesAtOnce, save);
}

std::size_t RowsOf(const std::vector<TickTable>& tables) {
  std::size_t rows = 0;
  for (const TickTable& table : tables) rows += table.at_us.size();
  return rows;
}

}  // namespace

Result<Compacted> CompactNode(Connection& connection, std::int64_t job_id, std::int64_t node_id) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status set = connection.Execute(kCompactLimits); !set) return set.error();
  FrameQuery wanted{.job_id = job_id, .node_id = node_id, .ranks = {}, .after_us = INT64_MIN};
  const Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
  if (!keys) return keys.error();
  if (keys->empty()) return Compacted{};
  const Result<ChosenFrames> chosen = ChooseNodeFrames(connection, job_id, *keys);
  if (!chosen) return chosen.error();
  const std::size_t count = chosen->count;
  Result<std::vector<TickTable>> tables =
      TakeTables(connection, job_id, *keys, count, chosen->schemas);
  if (!tables) return tables.error();

  const bool suspect =
      std::any_of(keys->begin(), keys->begin() + static_cast<std::ptrdiff_t>(count),
                  [](const FrameKey& key) { return key.clock_suspect; });
  const std::size_t rows = RowsOf(*tables);
  const TickTable ticks = JoinTicks(std::move(*tables), {});
  Compacted done{
      .frames = count, .rows_joined = rows - ticks.at_us.size(), .more = count < keys->size()};
  const Status saved = SaveAll(connection, job_id, node_id, ticks, suspect, done);
  if (!saved) return saved.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return done;
}

}  // namespace stepscope
