#include "server/compact/take_frames.h"

#include <algorithm>
#include <span>

namespace stepscope {
namespace {

constexpr std::size_t kFramesAtOnce = 256;  // frames whose schemas are in memory, up to 0.5 MB each
constexpr char kTaken[] = "frames: somebody else compacts them";

}  // namespace

Result<std::vector<FrameKey>> ListRankFrames(Connection& connection, std::int64_t job_id,
                                             const RankOfNode& rank, FrameKind kind) {
  return ListFrames(connection, {.job_id = job_id,
                                 .kind = kind,
                                 .node_id = rank.node_id,
                                 .ranks = {rank.rank},
                                 .after_us = INT64_MIN});
}

Status TakeFrames(Connection& connection, std::int64_t job_id, const std::vector<FrameKey>& keys,
                  std::size_t count, const Schemas& schemas, const TakeWhole& take) {
  const auto whole = [&](const Schema* schema, const std::string& payload) -> Status {
    if (!schema) return Internal("frame: its schema is gone");
    if (payload.empty()) return Conflict(kTaken);
    return take(payload, *schema);
  };
  const Status read = ForEachFrame(connection, job_id, keys, count, schemas, whole);
  if (!read) return read;
  const Result<std::size_t> deleted = DeleteFrames(connection, job_id, keys, count);
  if (!deleted) return deleted.error();
  return *deleted == count ? Status() : Conflict(kTaken);
}

Status TakeFrames(Connection& connection, std::int64_t job_id, const std::vector<FrameKey>& keys,
                  std::size_t count, const TakeWhole& take) {
  for (std::size_t from = 0; from < count; from += kFramesAtOnce) {
    const auto some = std::span(keys).subspan(from, std::min(kFramesAtOnce, count - from));
    const std::vector<FrameKey> part(some.begin(), some.end());
    const Result<Schemas> schemas = LoadSchemas(connection, job_id, part, part.size());
    if (!schemas) return schemas.error();
    const Status taken = TakeFrames(connection, job_id, part, part.size(), *schemas, take);
    if (!taken) return taken;
  }
  return {};
}

}  // namespace stepscope
