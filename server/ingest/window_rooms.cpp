#include "server/ingest/window_spans.h"

#include "core/base/text.h"
#include "server/store/windows.h"

namespace stepscope {

Result<std::string> FaultOfSpans(Connection& connection, std::int64_t job_id,
                                 const TableFrame& table, std::span<const NewSpanBlock> pending) {
  if (table.kind != FrameKind::kSpans) return std::string();
  const Result<WindowRow> window = FindWindow(connection, job_id, table.window_id);
  if (!window && window.error().code != Code::kNotFound) return window.error();
  if (!window) return window.error().message;
  if (table.first_step < window->start_step ||
      table.last_step >= window->start_step + window->num_steps) {
    return Format("steps {} to {} are not of window {}", table.first_step, table.last_step,
                  table.window_id);
  }
  Result<std::int64_t> stored = CountSpans(connection, job_id, table.window_id);
  if (!stored) return stored.error();
  std::int64_t spans = *stored + static_cast<std::int64_t>(table.rows);
  for (const NewSpanBlock& block : pending) {
    if (block.job_id == job_id && block.window_id == table.window_id) spans += block.rows;
  }
  if (spans <= kMostWindowSpans) return std::string();
  return Format("window {} would have {} spans, and at most {} are stored", table.window_id, spans,
                kMostWindowSpans);
}

}  // namespace stepscope
