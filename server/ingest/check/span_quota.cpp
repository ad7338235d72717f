#include "server/ingest/check/span_quota.h"

#include "core/base/text.h"
#include "server/store/jobs/windows.h"

namespace stepscope {

Result<SpanQuota::Room*> SpanQuota::Find(Connection& connection, const Key& key) {
  const auto [place, fresh] = rooms_.try_emplace(key);
  Room& room = place->second;
  if (!fresh) return &room;
  const Result<WindowRow> window = FindWindow(connection, key.first, key.second);
  if (!window && window.error().code != Code::kNotFound) return window.error();
  if (!window) {
    room.fault = window.error().message;
  } else {
    room.start_step = window->start_step;
    room.end_step = window->start_step + window->num_steps;
    room.stored = window->spans;
  }
  return &room;
}

Result<std::string> SpanQuota::Take(Connection& connection, std::int64_t job_id,
                                    const TableFrame& table) {
  if (table.kind != FrameKind::kSpans) return std::string();
  const Result<Room*> found = Find(connection, {job_id, table.window_id});
  if (!found) return found.error();
  Room& room = **found;
  if (!room.fault.empty()) return room.fault;
  if (table.first_step < room.start_step || table.last_step >= room.end_step) {
    return Format("steps {} to {} are not of window {}", table.first_step, table.last_step,
                  table.window_id);
  }
  const std::int64_t taken = room.taken + static_cast<std::int64_t>(table.rows);
  if (room.stored + taken > kMostWindowSpans) {
    return Format("window {} would have {} spans, and at most {} are stored", table.window_id,
                  room.stored + taken, kMostWindowSpans);
  }
  room.taken = taken;
  return std::string();
}

Status SpanQuota::Save(Connection& connection) const {
  if (Status done = InsertSpanBlocks(connection, blocks_); !done) return done;
  for (const auto& [key, room] : rooms_) {
    if (room.taken == 0) continue;
    const Status counted = CountSpans(connection, key.first, key.second, room.taken);
    if (!counted) return counted;
  }
  return {};
}

}  // namespace stepscope
