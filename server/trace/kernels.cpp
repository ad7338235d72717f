#include "server/trace/kernels.h"

#include <algorithm>
#include <map>
#include <unordered_map>

#include "core/base/json_members.h"
#include "server/trace/kernel_names.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

struct KernelSums {
  KernelRow row;
  double occupancy = 0;          // percent x ns
  std::int64_t occupied_ns = 0;  // time of the calls that say their occupancy
  std::map<std::uint32_t, std::int64_t> time_by_operator;  // by the operator's name
  std::map<std::uint32_t, std::int64_t> time_by_inputs;    // by the types of its inputs
};

void AddKernel(const TraceLinks& links, const TraceSpan& span, KernelSums& sums) {
  const Trace& trace = links.trace();
  KernelRow& row = sums.row;
  row.min_ns = row.calls == 0 ? span.duration_ns : std::min(row.min_ns, span.duration_ns);
  row.max_ns = std::max(row.max_ns, span.duration_ns);
  row.total_ns += span.duration_ns;
  ++row.calls;
  const std::int32_t occupancy = trace.details[span.detail].occupancy;
  if (occupancy >= 0) {
    sums.occupancy += double(occupancy) / 100 * double(span.duration_ns);
    sums.occupied_ns += span.duration_ns;
  }
  const std::uint32_t launched_by = links.OperatorOf(span);
  if (launched_by != TraceLinks::kNone) {
    const TraceSpan& by = trace.spans[launched_by];
    sums.time_by_operator[by.name] += span.duration_ns;
    sums.time_by_inputs[trace.details[by.detail].types] += span.duration_ns;
  }
}

// What all operators that launch the kernel say.
std::string_view PrecisionOfOperators(const Trace& trace, const KernelSums& sums) {
  std::string_view precision;
  for (const auto& [types, ns] : sums.time_by_inputs) {
    const std::string_view one = PrecisionOfInputs(trace.names[types]);
    if (one.empty() || (!precision.empty() && precision != one)) return "";
    precision = one;
  }
  return precision;
}

KernelRow RowOf(const Trace& trace, std::uint32_t name, KernelSums& sums) {
  KernelRow row = std::move(sums.row);
  row.name = trace.names[name];
  row.precision = PrecisionOf(row.name);
  if (row.precision.empty() && !row.communicates) {
    row.precision = PrecisionOfOperators(trace, sums);
  }
  if (sums.occupied_ns > 0) row.occupancy_percent = sums.occupancy / double(sums.occupied_ns);
  const auto longest = std::ranges::max_element(sums.time_by_operator, {},
                                                [](const auto& entry) { return entry.second; });
  if (longest != sums.time_by_operator.end()) row.launched_by = trace.names[longest->first];
  return row;
}

}  // namespace

KernelTable MakeKernelTable(const TraceLinks& links) {
  const Trace& trace = links.trace();
  KernelTable table;
  std::unordered_map<std::uint32_t, KernelSums> by_name;
  for (const TraceSpan& span : trace.spans) {
    if (span.kind != SpanKind::kKernel && span.kind != SpanKind::kCommunication) continue;
    KernelSums& sums = by_name[span.name];
    sums.row.communicates = span.kind == SpanKind::kCommunication;
    AddKernel(links, span, sums);
    ++table.calls;
    if (span.duration_ns < kShortKernelNs) ++table.short_calls;
    table.total_ns += span.duration_ns;
  }
  for (auto& [name, sums] : by_name) table.rows.push_back(RowOf(trace, name, sums));
  std::ranges::sort(table.rows, [](const KernelRow& one, const KernelRow& other) {
    return one.total_ns != other.total_ns ? one.total_ns > other.total_ns : one.name < other.name;
  });
  return table;
}

OrderedJson ToJson(const KernelTable& table) {
  OrderedJson rows = OrderedJson::array();
  for (const KernelRow& row : table.rows) {
    rows.push_back({{"name", row.name},
                    {"calls", row.calls},
                    {"total_seconds", SecondsOf(row.total_ns)},
                    {"share", ShareOf(row.total_ns, table.total_ns)},
                    {"mean_seconds", SecondsOf(row.total_ns / std::int64_t(row.calls))},
                    {"min_seconds", SecondsOf(row.min_ns)},
                    {"max_seconds", SecondsOf(row.max_ns)},
                    {"category", row.communicates ? "communication" : "computing"},
                    {"family", NullIfEmpty(FamilyOf(row.name))},
                    {"precision", NullIfEmpty(row.precision)},
                    {"tensor_cores", UsesTensorCores(row.name)},
                    {"launched_by", NullIfEmpty(row.launched_by)},
                    {"occupancy_percent", row.occupancy_percent < 0
                                              ? OrderedJson()
                                              : OrderedJson(Rounded(row.occupancy_percent, 2))}});
  }
  return {{"calls", table.calls},
          {"short_calls", table.short_calls},
          {"total_seconds", SecondsOf(table.total_ns)},
          {"kernels", std::move(rows)}};
}

}  // namespace stepscope
