#include "server/trace/operators.h"

#include <algorithm>
#include <map>
#include <utility>

#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

using OperatorKey = std::pair<std::uint32_t, std::uint32_t>;  // name and shapes

class OperatorSums {
 public:
  OperatorSums(const TraceLinks& links, bool by_shape)
      : links_(links),
        trace_(links.trace()),
        by_shape_(by_shape),
        device_(trace_.spans.size(), 0),
        inner_(trace_.spans.size(), 0) {}

  OperatorTable Make() {
    AddDeviceWork();
    AddInnerTime();
    for (std::uint32_t i = 0; i < trace_.spans.size(); ++i) {
      if (trace_.spans[i].kind == SpanKind::kOperator) AddOperator(i);
    }
    return Sorted();
  }

 private:
  OperatorKey KeyOf(const TraceSpan& span) const {
    return {span.name, by_shape_ ? trace_.details[span.detail].shapes : 0};
  }

  // Time on devices goes to the operator that launched it, and to each around that once by key.
  void AddDeviceWork() {
    for (const TraceSpan& work : trace_.spans) {
      if (!IsDeviceWork(work.kind)) continue;
      const std::uint32_t launched_by = links_.OperatorOf(work);
      if (launched_by == TraceLinks::kNone) {
        table_.unlinked_ns += work.duration_ns;
      } else {
        device_[launched_by] += work.duration_ns;
      }
    }
  }

  void AddInnerTime() {
    for (std::uint32_t i = 0; i < trace_.spans.size(); ++i) {
      const TraceSpan& span = trace_.spans[i];
      if (span.kind != SpanKind::kOperator) continue;
      const std::uint32_t parent = links_.ParentOf(i);
      if (parent == TraceLinks::kNone) continue;
      const std::int64_t end = std::min(span.end_ns(), trace_.spans[parent].end_ns());
      inner_[parent] += std::max<std::int64_t>(0, end - span.start_ns);
    }
  }

  void AddOperator(std::uint32_t i) {
    const TraceSpan& span = trace_.spans[i];
    const OperatorKey key = KeyOf(span);
    OperatorRow& row = rows_[key];
    const std::int64_t self = std::max<std::int64_t>(0, span.duration_ns - inner_[i]);
    ++row.calls;
    row.cpu_self_ns += self;
    row.device_self_ns += device_[i];
    table_.cpu_self_ns += self;
    table_.device_self_ns += device_[i];
    if (!IsWithin(i, key)) row.cpu_total_ns += span.duration_ns;
    if (device_[i] == 0) return;
    seen_.clear();
    for (std::uint32_t at = i; at != TraceLinks::kNone; at = links_.ParentOf(at)) {
      const OperatorKey outer = KeyOf(trace_.spans[at]);
      if (std::ranges::find(seen_, outer) != seen_.end()) continue;
      seen_.push_back(outer);
      rows_[outer].device_total_ns += device_[i];
    }
  }

  bool IsWithin(std::uint32_t i, const OperatorKey& key) const {
    for (std::uint32_t at = links_.ParentOf(i); at != TraceLinks::kNone; at = links_.ParentOf(at)) {
      if (KeyOf(trace_.spans[at]) == key) return true;
    }
    return false;
  }

  OperatorTable Sorted() {
    for (auto& [key, row] : rows_) {
      row.name = trace_.names[key.first];
      row.shapes = trace_.names[key.second];
      table_.rows.push_back(std::move(row));
    }
    std::ranges::stable_sort(table_.rows, [](const OperatorRow& one, const OperatorRow& other) {
      return std::pair(one.device_self_ns, one.cpu_self_ns) >
             std::pair(other.device_self_ns, other.cpu_self_ns);
    });
    Shorten();
    return std::move(table_);
  }

  void Shorten() {
    if (table_.rows.size() <= kMostOperatorRows) return;
    OperatorRow rest;
    for (std::size_t i = kMostOperatorRows - 1; i < table_.rows.size(); ++i) {
      const OperatorRow& row = table_.rows[i];
      rest.calls += row.calls;
      rest.cpu_self_ns += row.cpu_self_ns;
      rest.device_self_ns += row.device_self_ns;
    }
    table_.rows.resize(kMostOperatorRows - 1);
    table_.rows.push_back(std::move(rest));
  }

  const TraceLinks& links_;
  const Trace& trace_;
  const bool by_shape_;
  std::vector<std::int64_t> device_, inner_;  // by span: launched time, time of operators within
  std::vector<OperatorKey> seen_;
  std::map<OperatorKey, OperatorRow> rows_;
  OperatorTable table_;
};

}  // namespace

OperatorTable MakeOperatorTable(const TraceLinks& links, bool by_shape) {
  return OperatorSums(links, by_shape).Make();
}

OrderedJson ToJson(const OperatorTable& table) {
  OrderedJson rows = OrderedJson::array();
  for (const OperatorRow& row : table.rows) {
    rows.push_back({{"name", row.name},
                    {"shapes", NullIfEmpty(row.shapes)},
                    {"calls", row.calls},
                    {"cpu_total_seconds", SecondsOf(row.cpu_total_ns)},
                    {"cpu_self_seconds", SecondsOf(row.cpu_self_ns)},
                    {"device_total_seconds", SecondsOf(row.device_total_ns)},
                    {"device_self_seconds", SecondsOf(row.device_self_ns)}});
  }
  return {{"cpu_self_seconds", SecondsOf(table.cpu_self_ns)},
          {"device_self_seconds", SecondsOf(table.device_self_ns)},
          {"device_unlinked_seconds", SecondsOf(table.unlinked_ns)},
          {"operators", std::move(rows)}};
}

}  // namespace stepscope
