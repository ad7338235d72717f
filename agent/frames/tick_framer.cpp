// TickFramer of framer.h.

#include <algorithm>

#include "agent/frames/framer.h"
#include "core/base/log.h"
#include "core/wire/table_writer.h"

namespace stepscope {
namespace {

// Takes about 1 MiB when nothing compresses.
constexpr std::size_t kMostCells = 100'000;

}  // namespace

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
      pending.scales.clear();
      for (std::size_t i = 0; i < row.size(); ++i) pending.scales.push_back(row.scale(i));
    }
    pending.at_us.push_back(ToMicros(at));
    for (std::size_t i = 0; i < row.size(); ++i) {
      pending.values.push_back(row.scaled(i));
      pending.present.push_back(row.Has(i) ? 1 : 0);
    }
    pending.last = at;
    const std::size_t cells = pending.rows() * (row.size() + 1);
    if (pending.rows() >= kMaxRowsPerFrame || cells >= kMostCells) CutPending(pending);
  });
}

void TickFramer::Cut() {
  pending_.Change([&](Pending& pending) { CutPending(pending); });
}

const Column& TickFramer::ColumnOf(Pending& pending, std::size_t column) {
  Column& made = pending.column;
  made.present.clear();
  if (column == 0) {
    made.scale = 0;
    made.values = pending.at_us;
    return made;
  }
  const std::size_t series = pending.scales.size();
  made.scale = pending.scales[column - 1];
  made.values.clear();
  bool whole = true;
  for (std::size_t at = column - 1; at < pending.values.size(); at += series) {
    made.values.push_back(pending.values[at]);
    made.present.push_back(pending.present[at]);
    whole = whole && pending.present[at] != 0;
  }
  if (whole) made.present.clear();
  return made;
}

void TickFramer::CutPending(Pending& pending) {
  if (pending.rows() == 0) return;
  const auto column_at = [&](std::size_t i) -> const Column& { return ColumnOf(pending, i); };
  const auto samples = std::ranges::count_if(pending.present, [](auto has) { return has != 0; });
  stream_.Append({.kind = FrameKind::kTicks,
                  .payload = EncodeColumns(pending.rows(), pending.scales.size() + 1, column_at),
                  .schema = &pending.schema,
                  .schema_hash = pending.schema_hash,
                  .from_us = pending.at_us.front(),
                  .to_us = pending.at_us.back(),
                  .samples = static_cast<std::uint64_t>(samples)});
  pending.at_us.clear();
  pending.values.clear();
  pending.present.clear();
}

}  // namespace stepscope
