#pragma once

#include "core/model/table.h"
#include "core/wire/frame.h"
#include "server/ingest/check/checked_push.h"

namespace stepscope {

struct TableFault {
  std::string code;  // "unknown-metric", "bad-schema", "bad-table", "bad-time"
  std::string detail;
};

// Checks a series that people send: "unknown-metric", or "bad-schema" for its device.
std::optional<TableFault> CheckSeries(const SeriesName& series);

// Whether a schema names columns that a table of this kind may have: metrics, which a newer agent
// may know and we do not, or custom ones; known phases; no column twice; sane names.
std::optional<TableFault> CheckSchema(FrameKind kind, const Schema& schema);

// Whether a schema that was checked before belongs to this kind.
std::optional<TableFault> CheckKind(FrameKind kind, const Schema& schema);

// Whether the payload decodes, every column of it, and holds what the schema says: as many columns,
// times in order and sane. Fills rows, samples, rank and times.
std::optional<TableFault> CheckTable(const Schema& schema, TableFrame& frame);

}  // namespace stepscope
