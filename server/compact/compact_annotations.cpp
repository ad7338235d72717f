#include "server/compact/compact_annotations.h"

#include "server/compact/transaction_limits.h"
#include "server/compact/whole_frames.h"
#include "server/store/annotation_blocks.h"
#include "server/store/stored_frames.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRows = 50'000;  // in one transaction

Result<AnnotationWindows> ReadFrames(Connection& connection, std::int64_t job_id,
                                     const std::vector<FrameKey>& keys, std::size_t count) {
  const Result<Schemas> schemas = LoadSchemas(connection, job_id, keys, count);
  if (!schemas) return schemas.error();
  AnnotationWindows windows;
  const auto take = [&](const std::string& payload, const Schema& schema) -> Status {
    return AddAnnotations(windows, payload, schema);
  };
  const Status read = ForEachWholeFrame(connection, job_id, keys, count, *schemas, take);
  if (!read) return read.error();
  return windows;
}

}  // namespace

Result<Compacted> CompactAnnotations(Connection& connection, std::int64_t job_id, int rank) {
  Result<Transaction> transaction = Transaction::Begin(connection);
  if (!transaction) return transaction.error();
  if (Status set = connection.Execute(kCompactLimits); !set) return set.error();
  const FrameQuery wanted{.job_id = job_id,
                          .kind = FrameKind::kAnnotations,
                          .node_id = {},
                          .ranks = {rank},
                          .after_us = INT64_MIN};
  const Result<std::vector<FrameKey>> keys = ListFrames(connection, wanted);
  if (!keys) return keys.error();
  if (keys->empty()) return Compacted{};
  const std::size_t count = ChooseFrames(*keys, kMostRows, INT64_MIN).count;
  const Result<AnnotationWindows> fresh = ReadFrames(connection, job_id, *keys, count);
  if (!fresh) return fresh.error();
  const Result<std::size_t> deleted = DeleteFrames(connection, job_id, *keys, count);
  if (!deleted) return deleted.error();
  if (*deleted != count) return Conflict(kTaken);

  Result<AnnotationWindows> windows = TakeAnnotationBlocks(connection, job_id, rank, *fresh);
  if (!windows) return windows.error();
  const std::size_t left_out = AddWindows(*windows, *fresh);
  const Status saved = InsertAnnotationBlocks(connection, job_id, rank, *windows);
  if (!saved) return saved.error();
  if (Status committed = transaction->Commit(); !committed) return committed.error();
  return Compacted{.frames = count,
                   .blocks = windows->size(),
                   .rows_left_out = left_out,
                   .more = count < keys->size()};
}

}  // namespace stepscope
