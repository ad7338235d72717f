#include "server/trace/precision.h"

#include <algorithm>
#include <map>
#include <utility>

#include "server/trace/kernel_names.h"
#include "server/trace/kernels.h"
#include "server/trace/trace_json.h"

namespace stepscope {

std::vector<PrecisionRow> MakePrecisionTable(const TraceLinks& links) {
  std::map<std::pair<std::string_view, bool>, PrecisionRow> rows;
  for (const KernelRow& kernel : MakeKernelTable(links).rows) {
    if (kernel.communicates) continue;
    const std::pair key(kernel.precision, UsesTensorCores(kernel.name));
    PrecisionRow& row = rows[key];
    row.precision = key.first;
    row.tensor_cores = key.second;
    row.calls += kernel.calls;
    row.total_ns += kernel.total_ns;
  }
  std::vector<PrecisionRow> sorted;
  for (const auto& [key, row] : rows) sorted.push_back(row);
  std::ranges::stable_sort(sorted, std::ranges::greater(), &PrecisionRow::total_ns);
  return sorted;
}

OrderedJson ToJson(const std::vector<PrecisionRow>& rows) {
  std::int64_t total_ns = 0;
  for (const PrecisionRow& row : rows) total_ns += row.total_ns;
  OrderedJson precisions = OrderedJson::array();
  for (const PrecisionRow& row : rows) {
    precisions.push_back({{"precision", NullIfEmpty(row.precision)},
                          {"tensor_cores", row.tensor_cores},
                          {"calls", row.calls},
                          {"total_seconds", SecondsOf(row.total_ns)},
                          {"share", ShareOf(row.total_ns, total_ns)}});
  }
  return {{"total_seconds", SecondsOf(total_ns)}, {"precisions", std::move(precisions)}};
}

}  // namespace stepscope
