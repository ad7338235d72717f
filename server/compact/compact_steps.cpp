#include "server/compact/compact_steps.h"

#include <algorithm>

#include "server/compact/take_frames.h"
#include "server/compact/transaction_limits.h"
#include "server/store/frames/stored_frames.h"
#include "server/store/steps/step_blocks.h"

namespace stepscope {
namespace {

// Steps in one transaction: about 240 bytes each.
constexpr std::size_t kMostSteps = 100'000;
constexpr std::size_t kMostBlocks = 64;

std::size_t ChooseSome(const std::vector<FrameKey>& keys) {
  std::size_t rows = 0, count = 0;
  for (; count < keys.size(); ++count) {
    rows += static_cast<std::size_t>(keys[count].rows);
    if (count > 0 && rows > kMostSteps) break;
  }
  return count;
}

Result<std::vector<Step>> TakeSteps(Connection& connection, std::int64_t job_id,
                                    const std::vector<FrameKey>& keys, std::size_t count) {
  std::vector<Step> steps;
  const auto take = [&](const std::string& payload, const Schema& schema) -> Status {
    const Result<std::vector<Step>> some = DecodeSteps(payload, schema);
    if (!some) return some.error();
    std::ranges::copy(*some, std::back_inserter(steps));
    return {};
  };
  const Status taken = TakeFrames(connection, job_id, keys, count, take);
  if (!taken) return taken.error();
  return steps;
}

}  // namespace

Result<Compacted> CompactSteps(Connection& connection, std::int64_t job_id,
                               const RankOfNode& from) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status set = connection.Execute(kCompactLimits); !set) return set.error();
  const auto keys = ListRankFrames(connection, job_id, from, FrameKind::kSteps);
  if (!keys) return keys.error();
  if (keys->empty()) return Compacted{};
  const std::size_t count = ChooseSome(*keys);
  Result<std::vector<Step>> steps = TakeSteps(connection, job_id, *keys, count);
  if (!steps) return steps.error();

  const auto [first, last] = std::ranges::minmax(*steps, {}, &Step::start);
  Result<std::vector<Step>> stored = TakeStepBlocks(
      connection, job_id, from.rank, ToMicros(first.start), ToMicros(last.start), kMostBlocks);
  if (!stored) return stored.error();
  stored->insert(stored->end(), steps->begin(), steps->end());
  SortSteps(*stored);
  const Result<std::size_t> blocks = SaveStepBlocks(connection, job_id, from.rank, *stored);
  if (!blocks) return blocks.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return Compacted{.frames = count, .blocks = *blocks, .more = count < keys->size()};
}

}  // namespace stepscope
