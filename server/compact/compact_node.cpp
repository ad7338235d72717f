#include "server/compact/compact_node.h"

#include <algorithm>

#include "server/compact/choose_frames.h"
#include "server/compact/save_blocks.h"
#include "server/compact/take_frames.h"
#include "server/compact/transaction_limits.h"
#include "server/store/frames/stored_frames.h"
#include "server/store/ticks/join_ticks.h"

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

// Locks in several statements, so that each ends in time, however many metrics there are.
constexpr std::ptrdiff_t kWindowsAtOnce = 16;

std::vector<std::int64_t> WindowsOf(const TickTable& ticks) {
  std::vector<std::int64_t> windows;
  for (const std::int64_t at_us : ticks.at_us) {
    if (windows.empty() || windows.back() != BlockWindowOf(at_us))
      windows.push_back(BlockWindowOf(at_us));
  }
  return windows;
}

// Blocks are written by metric, and removed by window: so all are locked before, or each side may
// hold a lock that the other waits for.
Status LockAll(Connection& connection, std::int64_t job_id, std::int64_t node_id,
               const TickTable& ticks) {
  const std::vector<std::int64_t> windows_us = WindowsOf(ticks);
  for (auto from = windows_us.begin(); from != windows_us.end();) {
    const auto to = from + std::min(kWindowsAtOnce, windows_us.end() - from);
    if (Status locked = LockBlockWindows(connection, job_id, node_id, {from, to}); !locked) {
      return locked;
    }
    from = to;
  }
  return {};
}

// Saves some blocks at a time.
Status SaveAll(Connection& connection, Connection& schemas, std::int64_t job_id,
               std::int64_t node_id, const TickTable& ticks, bool clock_suspect, Compacted& done) {
  const auto save = [&](std::vector<StoredBlock> blocks) -> Status {
    done.blocks += blocks.size();
    const Result<Merged> merged =
        MergeAndSave(connection, schemas, job_id, node_id, std::move(blocks), kMostStoredBytes);
    if (!merged) return merged.error();
    done.rows_left_out += merged->left_out;
    done.rows_joined += merged->joined;
    return {};
  };
  if (Status locked = LockAll(connection, job_id, node_id, ticks); !locked) return locked;
  return CutBlocks(ticks, clock_suspect, kMostSeriesAtOnce, save);
}

std::size_t RowsOf(const std::vector<TickTable>& tables) {
  std::size_t rows = 0;
  for (const TickTable& table : tables) rows += table.at_us.size();
  return rows;
}

}  // namespace

Result<Compacted> CompactNode(Connection& connection, std::int64_t job_id, std::int64_t node_id,
                              Connection* schemas) {
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
  const Status saved =
      SaveAll(connection, schemas ? *schemas : connection, job_id, node_id, ticks, suspect, done);
  if (!saved) return saved.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return done;
}

}  // namespace stepscope
