#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "server/store/postgres/database.h"

namespace stepscope {

// Spans of windows, as their frames brought them (core/model/span_table.h).

inline constexpr std::int64_t kMostWindowSpans = std::int64_t{1} << 22;  // over all ranks

struct NewSpanBlock {
  std::int64_t job_id = 0, window_id = 0, sequence = 0, schema_hash = 0, from_us = 0, to_us = 0,
               rows = 0;
  int rank = 0;
  std::string_view session, payload;
};
Status InsertSpanBlocks(Connection& connection, std::span<const NewSpanBlock> blocks);

// Counts spans of a window that arrived: the sum over its blocks would be read with each push.
Status CountSpans(Connection& connection, std::int64_t job_id, std::int64_t window_id,
                  std::int64_t more);

struct SpanRow {
  int rank = 0;
  std::int64_t process = 0, thread = 0, step = 0, start_ns = 0, duration_ns = 0;
  std::string name;
};
struct SpanQuery {
  std::int64_t job_id = 0, window_id = 0;
  std::optional<std::int64_t> rank{};
  std::string name{};   // "": all
  std::string after{};  // cursor: opaque, made by ReadSpans; Invalid for another list's
  std::size_t limit = 500;
};
struct SpanPage {
  std::vector<SpanRow> items;  // by rank, and then in the order in which the agent sent them
  std::string next;            // "" at the end
};
Result<SpanPage> ReadSpans(Connection& connection, const SpanQuery& query);

}  // namespace stepscope
