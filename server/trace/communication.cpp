#include "server/trace/communication.h"

#include <algorithm>
#include <cctype>
#include <map>
#include <tuple>

#include "server/trace/intervals.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

struct TypeRow {
  std::string_view type;
  std::int64_t bytes;
};
constexpr TypeRow kTypes[] = {
    {"float", 4}, {"double", 8}, {"half", 2},          {"bfloat16", 2},
    {"int", 4},   {"long", 8},   {"byte", 1},          {"char", 1},
    {"bool", 1},  {"short", 2},  {"float8_e4m3fn", 1}, {"float8_e5m2", 1},
};

std::string Lower(std::string_view text) {
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return lower;
}

bool IsCpuCollective(const Trace& trace, const TraceSpan& span) {
  const std::string& name = trace.NameOf(span);
  return span.kind == SpanKind::kAnnotation &&
         (name.starts_with("gloo:") || name.starts_with("mpi:"));
}

// The larger side: what a gather gives and what a scatter takes.
std::int64_t BytesOf(const Trace& trace, const SpanDetail& detail) {
  const std::int64_t elements = std::max(detail.in_elements, detail.out_elements);
  const std::int64_t size = ElementBytes(trace.names[detail.types]);
  constexpr std::int64_t kMostElements = std::int64_t{1} << 50;
  return elements < 0 || elements > kMostElements || size == 0 ? -1 : elements * size;
}

using CollectiveKey = std::tuple<bool, std::string, std::string>;

CollectiveRow& RowFor(const Trace& trace, const TraceSpan& span,
                      std::map<CollectiveKey, CollectiveRow>& rows) {
  const std::string name = CollectiveName(trace, span), group = GroupName(trace, span);
  const bool on_device = trace.tracks[span.track].on_device;
  CollectiveRow& row = rows[{on_device, name, group}];
  row.name = name;
  row.group = group;
  row.on_device = on_device;
  row.group_size = std::max(row.group_size, trace.details[span.detail].group_size);
  return row;
}

void AddCollective(const Trace& trace, const TraceSpan& span, CollectiveRow& row) {
  row.min_ns = row.calls == 0 ? span.duration_ns : std::min(row.min_ns, span.duration_ns);
  row.max_ns = std::max(row.max_ns, span.duration_ns);
  row.total_ns += span.duration_ns;
  ++row.calls;
  const std::int64_t bytes = BytesOf(trace, trace.details[span.detail]);
  if (bytes < 0) return;
  row.bytes = std::max<std::int64_t>(row.bytes, 0) + bytes;
  row.sized_ns += span.duration_ns;
}

}  // namespace

bool IsCollective(const Trace& trace, const TraceSpan& span) {
  return span.kind == SpanKind::kCommunication || IsCpuCollective(trace, span);
}

const std::string& CollectiveName(const Trace& trace, const TraceSpan& span) {
  const std::string& said = trace.names[trace.details[span.detail].collective];
  return said.empty() ? trace.NameOf(span) : said;
}

const std::string& GroupName(const Trace& trace, const TraceSpan& span) {
  return trace.names[trace.details[span.detail].group];
}

std::int64_t ElementBytes(std::string_view type) {
  const std::string lower = Lower(type);
  const auto* const row = std::ranges::find(kTypes, std::string_view(lower), &TypeRow::type);
  return row == std::end(kTypes) ? 0 : row->bytes;
}

double BusFactor(std::string_view collective, std::int64_t ranks) {
  if (ranks < 2) return 1;
  const std::string name = Lower(collective);
  const double others = double(ranks - 1) / double(ranks);
  const auto has = [&](std::string_view part) { return name.find(part) != std::string::npos; };
  if (has("allreduce") || has("all_reduce")) return 2 * others;
  return has("gather") || has("scatter") || has("all_to_all") || has("alltoall") ? others : 1;
}

std::vector<CollectiveRow> MakeCollectiveTable(const TraceLinks& links) {
  const Trace& trace = links.trace();
  std::map<CollectiveKey, CollectiveRow> rows;
  for (const TraceSpan& span : trace.spans) {
    if (IsCpuCollective(trace, span)) AddCollective(trace, span, RowFor(trace, span, rows));
  }
  for (const auto& device : links.devices()) {
    std::vector<TimeRange> computing;
    for (const std::uint32_t i : device.spans) {
      const TraceSpan& span = trace.spans[i];
      if (span.kind == SpanKind::kKernel) computing.push_back({span.start_ns, span.end_ns()});
    }
    const TimeRanges busy = UnionOf(std::move(computing));
    for (const std::uint32_t i : device.spans) {
      const TraceSpan& span = trace.spans[i];
      if (span.kind != SpanKind::kCommunication) continue;
      CollectiveRow& row = RowFor(trace, span, rows);
      AddCollective(trace, span, row);
      row.exposed_ns += span.duration_ns - LengthWithin(busy, {span.start_ns, span.end_ns()});
    }
  }
  std::vector<CollectiveRow> sorted;
  for (auto& [key, row] : rows) sorted.push_back(std::move(row));
  std::ranges::stable_sort(sorted, std::ranges::greater(), &CollectiveRow::total_ns);
  return sorted;
}

OrderedJson ToJson(const std::vector<CollectiveRow>& rows) {
  OrderedJson collectives = OrderedJson::array();
  for (const CollectiveRow& row : rows) {
    const bool sized = row.bytes >= 0 && row.sized_ns > 0;
    const double rate = sized ? double(row.bytes) / (double(row.sized_ns) / 1e9) : 0;
    const auto orNull = [](bool known, auto value) {
      return known ? OrderedJson(value) : OrderedJson();
    };
    collectives.push_back(
        {{"name", row.name},
         {"group", NullIfEmpty(row.group)},
         {"group_size", orNull(row.group_size >= 0, row.group_size)},
         {"on_device", row.on_device},
         {"calls", row.calls},
         {"total_seconds", SecondsOf(row.total_ns)},
         {"min_seconds", SecondsOf(row.min_ns)},
         {"max_seconds", SecondsOf(row.max_ns)},
         {"exposed_seconds", orNull(row.on_device, SecondsOf(row.exposed_ns))},
         {"bytes", orNull(row.bytes >= 0, row.bytes)},
         {"bytes_per_second", orNull(sized, Rounded(rate, 0))},
         {"bus_bytes_per_second", orNull(sized && row.group_size > 0,
                                         Rounded(rate * BusFactor(row.name, row.group_size), 0))}});
  }
  return {{"collectives", std::move(collectives)}};
}

}  // namespace stepscope
