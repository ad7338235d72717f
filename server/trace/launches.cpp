#include "server/trace/launches.h"

#include <algorithm>
#include <unordered_map>

#include "server/trace/breakdown.h"
#include "server/trace/host_waits.h"
#include "server/trace/kernels.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

bool LaunchesGraph(std::string_view call) {
  return call.find("GraphLaunch") != std::string_view::npos;
}

bool CopiesNow(std::string_view call) {
  return call.starts_with("cudaMemcpy") || call.starts_with("hipMemcpy") ||
         call.starts_with("cuMemcpy");
}

void AddKernels(const TraceLinks& links, LaunchTable& table) {
  const Trace& trace = links.trace();
  for (const TraceSpan& span : trace.spans) {
    if (span.kind != SpanKind::kKernel && span.kind != SpanKind::kCommunication) continue;
    ++table.kernels;
    if (span.duration_ns < kShortKernelNs) ++table.short_kernels;
    const std::uint32_t launch = links.LaunchOf(span);
    if (launch == TraceLinks::kNone) {
      ++table.unlinked;
      continue;
    }
    if (LaunchesGraph(trace.NameOf(trace.spans[launch]))) ++table.in_graphs;
    table.delays_ns.push_back(span.start_ns - trace.spans[launch].start_ns);
  }
  std::ranges::sort(table.delays_ns);
}

void AddCalls(const Trace& trace, LaunchTable& table) {
  std::unordered_map<std::uint32_t, LaunchCall> by_name;
  for (const TraceSpan& span : trace.spans) {
    if (span.kind != SpanKind::kLaunch) continue;
    const std::string& name = trace.NameOf(span);
    LaunchCall& call = by_name[span.name];
    ++call.calls;
    call.total_ns += span.duration_ns;
    call.max_ns = std::max(call.max_ns, span.duration_ns);
    if (IsSyncCall(name)) table.sync_ns += span.duration_ns;
    if (CopiesNow(name)) table.copy_call_ns += span.duration_ns;
    if (LaunchesGraph(name)) ++table.graph_launches;
  }
  for (auto& [name, call] : by_name) {
    call.name = trace.names[name];
    table.calls.push_back(std::move(call));
  }
  std::ranges::sort(table.calls, [](const LaunchCall& one, const LaunchCall& other) {
    return one.total_ns != other.total_ns ? one.total_ns > other.total_ns : one.name < other.name;
  });
}

// How many delays lie between two bounds, each twice the one before.
OrderedJson Histogram(const std::vector<std::int64_t>& sorted) {
  OrderedJson bins = OrderedJson::array();
  std::int64_t from = 0;
  for (std::int64_t to = 1'000; from < INT64_MAX / 4; from = to, to *= 2) {
    const auto first = from == 0 ? sorted.begin() : std::ranges::lower_bound(sorted, from);
    const auto last = std::ranges::lower_bound(sorted, to);
    if (first == sorted.end()) break;
    if (first != last) {
      bins.push_back({{"from_seconds", SecondsOf(from)},
                      {"to_seconds", SecondsOf(to)},
                      {"kernels", last - first}});
    }
  }
  return bins;
}

OrderedJson DelayJson(const std::vector<std::int64_t>& sorted) {
  const auto at = [&](double share) { return Rounded(QuantileOf(sorted, share) / 1e9, 9); };
  return {{"p50", at(0.5)}, {"p90", at(0.9)}, {"p99", at(0.99)}, {"max", at(1)}};
}

}  // namespace

double QuantileOf(const std::vector<std::int64_t>& sorted, double share) {
  if (sorted.empty()) return 0;
  const double place = share * double(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  const double rest = place - double(below);
  return double(sorted[below]) * (1 - rest) + double(sorted[above]) * rest;
}

LaunchTable MakeLaunchTable(const TraceLinks& links) {
  LaunchTable table;
  AddKernels(links, table);
  AddCalls(links.trace(), table);
  for (const DeviceBreakdown& device : MakeBreakdown(links)) {
    if (device.device < 0) continue;
    const auto part = [&](TimePart one) {
      return device.total.parts_ns[static_cast<std::size_t>(one)];
    };
    table.late_ns += part(TimePart::kHostLate) + part(TimePart::kShortGap);
    table.device_ns += device.total.range.length_ns();
  }
  table.steps = links.trace().steps.size();
  table.lacks_work = LacksDeviceWork(links);
  return table;
}

OrderedJson ToJson(const LaunchTable& table) {
  OrderedJson calls = OrderedJson::array();
  for (const LaunchCall& call : table.calls) {
    calls.push_back({{"name", call.name},
                     {"calls", call.calls},
                     {"total_seconds", SecondsOf(call.total_ns)},
                     {"mean_seconds", SecondsOf(call.total_ns / std::int64_t(call.calls))},
                     {"max_seconds", SecondsOf(call.max_ns)}});
  }
  const auto kernels = static_cast<std::int64_t>(table.kernels);
  const double steps = double(std::max<std::size_t>(table.steps, 1));
  const auto share = [](std::uint64_t part, std::int64_t whole) {  // unknown of nothing
    return whole > 0 ? OrderedJson(ShareOf(std::int64_t(part), whole)) : OrderedJson();
  };
  return {{"kernels", table.kernels},
          {"kernels_per_step", table.steps == 0 || table.lacks_work
                                   ? OrderedJson()
                                   : OrderedJson(Rounded(double(kernels) / steps, 2))},
          {"short_kernels", table.short_kernels},
          {"short_share", share(table.short_kernels, kernels)},
          {"unlinked_kernels", table.unlinked},
          {"graph_launches", table.graph_launches},
          {"graph_share", share(table.in_graphs, kernels)},
          {"launch_bound_share", share(std::uint64_t(table.late_ns), table.device_ns)},
          {"host_sync_seconds", SecondsOf(table.sync_ns)},
          {"host_copy_seconds", SecondsOf(table.copy_call_ns)},
          {"delay_seconds", DelayJson(table.delays_ns)},
          {"delays", Histogram(table.delays_ns)},
          {"calls", std::move(calls)},
          {"note", NullIfEmpty(table.lacks_work ? kDeviceWorkLacks : std::string_view())}};
}

}  // namespace stepscope
