#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// With what numbers kernels that do not communicate compute, by their names; "" is not known.
struct PrecisionRow {
  std::string_view precision;
  bool tensor_cores = false;
  std::uint64_t calls = 0;
  std::int64_t total_ns = 0;
};

std::vector<PrecisionRow> MakePrecisionTable(const TraceLinks& links);  // the longest total first
OrderedJson ToJson(const std::vector<PrecisionRow>& rows);

}  // namespace stepscope
