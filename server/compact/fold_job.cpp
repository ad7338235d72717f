#include "server/compact/fold_job.h"

#include "core/base/log.h"
#include "server/compact/transaction_limits.h"
#include "server/store/jobs/jobs.h"
#include "server/store/rollups/job_rollups.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostFoldedRows = 8;  // rows that one transaction locks
constexpr std::int64_t kMostLeft = 500;      // rows of a transaction in which no rollup is read
constexpr std::size_t kNodesAtOnce = 64;     // nodes whose rollups are in memory

// A row gets no bins when few nodes have some. Read once the row is locked: no node writes any
// more.
Result<FoldedRollup> FoldOne(Connection& connection, std::int64_t job_id,
                             const std::vector<NodeRow>& nodes, const RollupKey& key,
                             std::size_t few_nodes) {
  RollupFold fold(key);
  std::size_t folded = 0;
  std::vector<std::int64_t> some;
  const auto take = [&](const NodeRollup& rollup) {
    fold.AddNode({&rollup.bins, 1});
    ++folded;
    return Status();
  };
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    some.push_back(nodes[i].node_id);
    if (some.size() < kNodesAtOnce && i + 1 < nodes.size()) continue;
    const Status read = ForEachRollupOf(connection, job_id, key, some, take);
    if (!read) return read.error();
    some.clear();
  }
  return folded < few_nodes ? FoldedRollup{.key = key, .bins = {}} : fold.Take();
}

// Saves rows without bins, so that readers take the nodes' rollups.
std::vector<FoldedRollup> Unfolded(const std::vector<RollupKey>& keys) {
  std::vector<FoldedRollup> left;
  for (const RollupKey& key : keys) left.push_back({.key = key, .bins = {}});
  return left;
}

// Rows that cannot be folded are left to readers. The rows are locked, so all nodes that wrote are
// known.
Result<std::vector<FoldedRollup>> FoldAll(Connection& connection, std::int64_t job_id,
                                          const std::vector<RollupKey>& keys,
                                          std::size_t few_nodes) {
  const Result<std::vector<NodeRow>> nodes = ListNodes(connection, job_id);
  if (!nodes) return nodes.error();
  std::vector<FoldedRollup> folded = Unfolded(keys);
  for (FoldedRollup& rollup : folded) {
    Result<FoldedRollup> one = FoldOne(connection, job_id, *nodes, rollup.key, few_nodes);
    if (one) {
      rollup = std::move(*one);
    } else if (one.error().code == Code::kUnavailable) {
      return one.error();
    } else {
      LogWarning("job {}: rollups of {} are not folded: {}", job_id, rollup.key.metric,
                 one.error().message);
    }
  }
  return folded;
}

}  // namespace

Result<Compacted> FoldSome(Connection& connection, std::int64_t job_id, std::size_t few_nodes) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status set = connection.Execute(kCompactLimits); !set) return set.error();
  const Result<std::vector<NodeRow>> nodes = ListNodes(connection, job_id);
  if (!nodes) return nodes.error();
  const bool few = nodes->size() < few_nodes;
  const Result<StaleRollups> stale =
      LockStale(connection, job_id, few ? kMostLeft : kMostFoldedRows);
  if (!stale) return stale.error();
  const Result<std::vector<FoldedRollup>> folded =
      few ? Unfolded(stale->keys) : FoldAll(connection, job_id, stale->keys, few_nodes);
  if (!folded) return folded.error();
  if (Status saved = SaveJobRollups(connection, job_id, *folded); !saved) return saved.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return Compacted{.more = stale->more};
}

}  // namespace stepscope
