#include "server/compact/compact_steps.h"

#include <algorithm>

#include "server/compact/transaction_limits.h"
#include "server/compact/whole_frames.h"
#include "server/store/step_blocks.h"
#include "server/store/stored_frames.h"

namespace stepscope {
namespace {

// Steps in one transaction: about 100 bytes each.
constexpr std::size_t kMostSteps = 200'000;
constexpr std::size_t kMostBlocks = 64;

std::size_t ChooseSome(const std::vector<FrameKey>& keys) {
  std::size_t rows = 0, count = 0;
  for (; count < keys.size(); ++count) {
    rows += static_cast<std::size_t>(keys[count].rows);
    if (count > 0 && rows > kMostSteps) break;
  }
  return count;
}

Result<std::vector<Step>> ReadFrames(Connection& connection, std::int64_t job_id,
                                     const std::vector<FrameKey>& keys, std::size_t count) {
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, keys, count);
  if (!schemas) return schemas.error();
  std::vector<Step> steps;
  const auto take = [&](const std::string& payload, const Schema& schema) -> Status {
    const Result<std::vector<Step>> some = DecodeSteps(payload, schema);
    if (!some) return some.error();
    std::ranges::copy(*some, std::back_inserter(steps));
    return {};
  };
  const Status read = ForEachWholeFrame(connection, job_id, keys, count, *schemas, take);
  if (!read) return read.error();
  return steps;
}

}  // namespace

Result<Compacted> CompactSteps(Connection& connection, std::int64_t job_id, int rank) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status set = connection.Execute(kCompactLimits); !set) return set.error();
  const FrameQuery wanted{.job_id = job_id,
                          .kind = FrameKind::kSteps,
                          .node_id = {},
                          .ranks = {rank},
                          .after_us = INT64_MIN};
  const Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
  if (!keys) return keys.error();
  if (keys->empty()) return Compacted{};
  const std::size_t count = ChooseSome(*keys);
  Result<std::vector<Step>> steps = ReadFrames(connection, job_id, *keys, count);
  if (!steps) return steps.error();
  const Result<std::size_t> deleted = DeleteFrames(connection, job_id, *keys, count);
  if (!deleted) return deleted.error();
  if (*deleted != count) return Conflict(kTaken);

  const auto [first, last] = std::ranges::minmax(*steps, {}, &Step::start);
  Result<std::vector<Step>> stored = TakeStepBlocks(connection, job_id, rank, ToMicros(first.start),
                                                    ToMicros(last.start), kMostBlocks);
  if (!stored) return stored.error();
  stored->insert(stored->end(), steps->begin(), steps->end());
  SortSteps(*stored);
  const Result<std::size_t> blocks = SaveStepBlocks(connection, job_id, rank, *stored);
  if (!blocks) return blocks.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return Compacted{.frames = count, .blocks = *blocks, .more = count < keys->size()};
}

}  // namespace stepscope
