#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/json.h"
#include "server/trace/trace_links.h"

namespace stepscope {

// Operators of a trace by name and, where recorded, by the shapes of their inputs. An operator
// within one of the same name counts once in totals.
struct OperatorRow {
  std::string name, shapes;  // "" where shapes were not recorded
  std::uint64_t calls = 0;
  std::int64_t cpu_total_ns = 0, cpu_self_ns = 0;        // self: without the operators within
  std::int64_t device_total_ns = 0, device_self_ns = 0;  // what it launched; self: itself
};
struct OperatorTable {
  std::vector<OperatorRow> rows;  // the longest time on devices first, then on the CPU
  std::int64_t cpu_self_ns = 0, device_self_ns = 0;  // sums over all rows
  std::int64_t unlinked_ns = 0;                      // device work of which no operator is known
};
inline constexpr std::size_t kMostOperatorRows = 5'000;  // further ones are one row without a name

OperatorTable MakeOperatorTable(const TraceLinks& links, bool by_shape);
OrderedJson ToJson(const OperatorTable& table);

}  // namespace stepscope
