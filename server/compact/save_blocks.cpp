#include "server/compact/save_blocks.h"

#include <algorithm>
#include <iterator>

#include "server/store/retention/removals.h"
#include "server/store/rollups/job_rollups.h"

namespace stepscope {
namespace {

std::vector<BlockKey> KeysOf(const std::vector<StoredBlock>& blocks) {
  std::vector<BlockKey> keys;
  for (const StoredBlock& block : blocks) keys.push_back(block.key);
  return keys;
}

Result<std::size_t> Measure(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                            const std::vector<StoredBlock>& blocks) {
  const auto there = MeasureBlocks(connection, job_id, node_id, KeysOf(blocks));
  if (!there) return there.error();
  const auto rollups = MeasureRollups(connection, job_id, node_id, RollupsOf(blocks));
  if (!rollups) return rollups.error();
  return *there + *rollups;
}

std::vector<StoredBlock> TakeHalf(std::vector<StoredBlock>& blocks) {
  const auto middle = blocks.begin() + std::ssize(blocks) / 2;
  std::vector<StoredBlock> half;
  std::ranges::move(middle, blocks.end(), std::back_inserter(half));
  blocks.erase(middle, blocks.end());
  return half;
}

// Saves all blocks in one batch.
Result<Merged> Save(Connection& connection, Connection& schemas, std::int64_t job_id,
                    std::int64_t node_id, std::vector<StoredBlock> blocks) {
  Result<std::vector<StoredBlock>> stored = LockBlocks(connection, job_id, node_id, KeysOf(blocks));
  if (!stored) return stored.error();
  // Read after the blocks are locked: a removal of blocks changes it in the same transaction.
  const Result<std::int64_t> samples_from_us = SamplesFrom(connection, job_id);
  if (!samples_from_us) return samples_from_us.error();
  const std::vector<StoredBlock> late = LateRows(blocks, *stored, *samples_from_us);
  const Merged merged = MergeBlocks(blocks, std::move(*stored));
  const std::vector<RollupKey> changed = RollupsOf(blocks);
  Result<std::vector<StoredRollup>> rollups = LockRollups(connection, job_id, node_id, changed);
  if (!rollups) return rollups.error();
  const std::vector<StoredRollup> rolled = RollUpBlocks(blocks, std::move(*rollups), late);
  if (Status done = SaveBlocks(connection, schemas, job_id, node_id, blocks); !done)
    return done.error();
  if (Status done = MarkStale(connection, job_id, changed); !done) return done.error();
  if (Status done = SaveRollups(connection, schemas, job_id, node_id, rolled); !done)
    return done.error();
  return merged;
}

}  // namespace

Result<Merged> MergeAndSave(Connection& connection, Connection& schemas, std::int64_t job_id,
                            std::int64_t node_id, std::vector<StoredBlock> blocks,
                            std::size_t most_stored_bytes) {
  if (blocks.size() < 2) return Save(connection, schemas, job_id, node_id, std::move(blocks));
  const Result<std::size_t> stored = Measure(connection, job_id, node_id, blocks);
  if (!stored) return stored.error();
  if (*stored <= most_stored_bytes)
    return Save(connection, schemas, job_id, node_id, std::move(blocks));
  std::vector<StoredBlock> rest = TakeHalf(blocks);
  const auto save = [&](std::vector<StoredBlock>& some) {
    return MergeAndSave(connection, schemas, job_id, node_id, std::move(some), most_stored_bytes);
  };
  const Result<Merged> first = save(blocks);
  if (!first) return first.error();
  const Result<Merged> second = save(rest);
  if (!second) return second.error();
  return Merged{first->left_out + second->left_out, first->joined + second->joined};
}

}  // namespace stepscope
