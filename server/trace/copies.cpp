#include "server/trace/copies.h"

#include <algorithm>
#include <map>
#include <utility>

#include "server/trace/intervals.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

struct CopySums {
  CopyRow row;
  std::map<std::uint32_t, std::int64_t> time_by_operator;
};
using CopiesByName = std::map<std::uint32_t, CopySums>;

// AMD's profiler has the size at the call that copies, not at the copy.
std::int64_t BytesOf(const TraceLinks& links, const TraceSpan& copy) {
  const Trace& trace = links.trace();
  const std::int64_t own = trace.details[copy.detail].bytes;
  const std::uint32_t launch = own < 0 ? links.LaunchOf(copy) : TraceLinks::kNone;
  return launch == TraceLinks::kNone ? own : trace.details[trace.spans[launch].detail].bytes;
}

void AddCopy(const TraceLinks& links, const TraceSpan& span, CopySums& sums) {
  const Trace& trace = links.trace();
  CopyRow& row = sums.row;
  ++row.calls;
  row.sets = span.kind == SpanKind::kSet;
  row.total_ns += span.duration_ns;
  const std::int64_t bytes = BytesOf(links, span);
  if (bytes >= 0) {
    row.bytes = std::max<std::int64_t>(row.bytes, 0) + bytes;
    row.sized_ns += span.duration_ns;
  }
  const std::uint32_t launched_by = links.OperatorOf(span);
  if (launched_by != TraceLinks::kNone) {
    sums.time_by_operator[trace.spans[launched_by].name] += span.duration_ns;
  }
}

// Time of copies of a device in which none of its kernels ran; two copies at once count once.
void AddExposed(const TraceLinks& links, const TraceLinks::DeviceWork& device,
                CopiesByName& by_name) {
  std::vector<TimeRange> kernels;
  std::map<std::uint32_t, std::vector<TimeRange>> copies;
  for (const std::uint32_t i : device.spans) {
    const TraceSpan& span = links.trace().spans[i];
    const bool copy = span.kind == SpanKind::kCopy || span.kind == SpanKind::kSet;
    (copy ? copies[span.name] : kernels).push_back({span.start_ns, span.end_ns()});
  }
  const TimeRanges busy = UnionOf(std::move(kernels));
  for (auto& [name, ranges] : copies) {
    by_name[name].row.exposed_ns += LengthOf(Difference(UnionOf(std::move(ranges)), busy));
  }
}

std::string_view Known(std::string_view text, std::initializer_list<std::string_view> words) {
  for (const std::string_view word : words) {
    if (text.find(word) != std::string_view::npos) return word;
  }
  return "";
}

}  // namespace

std::string_view DirectionOf(std::string_view copy) {
  const std::string_view known = Known(copy, {"HtoD", "DtoH", "DtoD", "PtoP", "HtoH"});
  if (!known.empty()) return known;
  constexpr std::pair<std::string_view, std::string_view> kOthers[] = {
      {"H2D", "HtoD"},
      {"D2H", "DtoH"},
      {"D2D", "DtoD"},
      {"P2P", "PtoP"},
      {"H2H", "HtoH"},  // XLA
      {"HostToDevice", "HtoD"},
      {"DeviceToHost", "DtoH"},
      {"DeviceToDevice", "DtoD"},  // AMD
      {"HOST_TO_DEVICE", "HtoD"},
      {"DEVICE_TO_HOST", "DtoH"},
      {"DEVICE_TO_DEVICE", "DtoD"},
  };
  for (const auto& [given, direction] : kOthers) {
    if (copy.find(given) != std::string_view::npos) return direction;
  }
  return "";
}

std::string_view HostMemoryOf(std::string_view copy) {
  if (copy.find("Pinned") != std::string_view::npos) return "pinned";
  return copy.find("Pageable") != std::string_view::npos ? "pageable" : "";
}

std::vector<CopyRow> MakeCopyTable(const TraceLinks& links) {
  CopiesByName by_name;
  for (const TraceSpan& span : links.trace().spans) {
    const bool copy = span.kind == SpanKind::kCopy || span.kind == SpanKind::kSet;
    if (copy) AddCopy(links, span, by_name[span.name]);
  }
  for (const auto& device : links.devices()) AddExposed(links, device, by_name);
  std::vector<CopyRow> rows;
  for (auto& [name, sums] : by_name) {
    sums.row.name = links.trace().names[name];
    const auto longest = std::ranges::max_element(sums.time_by_operator, {},
                                                  [](const auto& entry) { return entry.second; });
    if (longest != sums.time_by_operator.end()) {
      sums.row.launched_by = links.trace().names[longest->first];
    }
    rows.push_back(std::move(sums.row));
  }
  std::ranges::stable_sort(rows, std::ranges::greater(), &CopyRow::total_ns);
  return rows;
}

OrderedJson ToJson(const std::vector<CopyRow>& rows) {
  OrderedJson copies = OrderedJson::array();
  for (const CopyRow& row : rows) {
    const bool sized = row.bytes >= 0 && row.sized_ns > 0;
    const double rate = sized ? double(row.bytes) / (double(row.sized_ns) / 1e9) : 0;
    copies.push_back(
        {{"name", row.name},
         {"direction", row.sets ? OrderedJson("set") : NullIfEmpty(DirectionOf(row.name))},
         {"host_memory", NullIfEmpty(HostMemoryOf(row.name))},
         {"calls", row.calls},
         {"bytes", row.bytes < 0 ? OrderedJson() : OrderedJson(row.bytes)},
         {"total_seconds", SecondsOf(row.total_ns)},
         {"exposed_seconds", SecondsOf(row.exposed_ns)},
         {"bytes_per_second", sized ? OrderedJson(Rounded(rate, 0)) : OrderedJson()},
         {"launched_by", NullIfEmpty(row.launched_by)}});
  }
  return {{"copies", std::move(copies)}};
}

}  // namespace stepscope
