#include "server/compact/compact_annotations.h"

#include "server/compact/take_frames.h"
#include "server/compact/transaction_limits.h"
#include "server/store/annotations/annotation_blocks.h"
#include "server/store/frames/stored_frames.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostAnnotationRows = 50'000;  // frames in one transaction

Result<AnnotationWindows> TakeWindows(Connection& connection, std::int64_t job_id,
                                      const std::vector<FrameKey>& keys, std::size_t count) {
  AnnotationWindows windows;
  const auto take = [&](const std::string& payload, const Schema& schema) -> Status {
    return AddAnnotations(windows, payload, schema);
  };
  const Status taken = TakeFrames(connection, job_id, keys, count, take);
  if (!taken) return taken.error();
  return windows;
}

}  // namespace

Result<Compacted> CompactAnnotations(Connection& connection, std::int64_t job_id,
                                     const RankOfNode& from) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status set = connection.Execute(kCompactLimits); !set) return set.error();
  const auto keys = ListRankFrames(connection, job_id, from, FrameKind::kAnnotations);
  if (!keys) return keys.error();
  if (keys->empty()) return Compacted{};
  const std::size_t count = ChooseFrames(*keys, kMostAnnotationRows, INT64_MIN).count;
  const Result<AnnotationWindows> fresh = TakeWindows(connection, job_id, *keys, count);
  if (!fresh) return fresh.error();

  Result<AnnotationWindows> windows = TakeAnnotationBlocks(connection, job_id, from.rank, *fresh);
  if (!windows) return windows.error();
  const std::size_t left_out = AddWindows(*windows, *fresh);
  const Status saved = InsertAnnotationBlocks(connection, job_id, from.rank, *windows);
  if (!saved) return saved.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return Compacted{.frames = count,
                   .blocks = windows->size(),
                   .rows_left_out = left_out,
                   .more = count < keys->size()};
}

}  // namespace stepscope
