// TickFramer of framer.h.

#include <algorithm>

#include "agent/frames/framer.h"
#include "core/base/log.h"
#include "core/wire/table_codec.h"

namespace stepscope {
namespace {

// About 1 MiB when nothing compresses.
constexpr std::size_t kMostCells = 100'000;

void PushValue(Column& column, std::int64_t value, bool has) {
  // `present` stays empty as long as no value is missing.
  if (!has && column.present.empty()) column.present.assign(column.values.size(), 1);
  if (!column.present.empty() || !has) column.present.push_back(has ? 1 : 0);
  column.values.push_back(value);
}

}  // namespace

void TickFramer::Append(Pending& pending, Time at, const TickRow& row) {
  pending.table.columns[0].values.push_back(ToMicros(at));
  for (std::size_t i = 0; i < row.size(); ++i) {
    PushValue(pending.table.columns[i + 1], row.scaled(i), row.Has(i));
    pending.samples += row.Has(i);
  }
  ++pending.table.rows;
  pending.last = at;
}

void TickFramer::Add(Time at, const TickRow& row) {
  pending_.Change([&](Pending& pending) {
    const bool stepped_back = at <= pending.last;
    if (stepped_back) LogWarning("the clock of this node was set back; samples may overlap");
    const bool new_series = pending.schema.columns.size() != row.size() + 1;
    if (stepped_back || new_series) CutPending(pending);
    if (new_series) {
      pending.schema.columns.assign(1, {"at_us", ""});
      pending.schema.columns.insert(pending.schema.columns.end(), row.series().begin(),
                                    row.series().end());
      pending.schema_hash = HashSchema(pending.schema);
      pending.table.columns.assign(row.size() + 1, {});
      for (std::size_t i = 0; i < row.size(); ++i)
        pending.table.columns[i + 1].scale = row.scale(i);
    }
    Append(pending, at, row);
    const std::size_t cells = pending.table.rows * pending.table.columns.size();
    if (pending.table.rows >= kMaxRowsPerFrame || cells >= kMostCells) CutPending(pending);
  });
}

void TickFramer::Cut() {
  pending_.Change([&](Pending& pending) { CutPending(pending); });
}

void TickFramer::CutPending(Pending& pending) {
  if (pending.table.rows == 0) return;
  stream_.Append({.kind = FrameKind::kTicks,
                  .payload = EncodeTable(pending.table),
                  .schema = &pending.schema,
                  .schema_hash = pending.schema_hash,
                  .from_us = pending.table.columns[0].values.front(),
                  .to_us = pending.table.columns[0].values.back(),
                  .samples = pending.samples});
  for (Column& column : pending.table.columns) {
    column.values.clear();
    column.present.clear();
  }
  pending.table.rows = 0;
  pending.samples = 0;
}

}  // namespace stepscope
