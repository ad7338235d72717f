#include "server/trace/step_table.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "server/trace/breakdown.h"
#include "server/trace/trace_json.h"

namespace stepscope {
namespace {

struct NameTimes {
  std::uint64_t calls = 0;
  std::vector<std::int64_t> ns;
};
using TimesByName = std::map<std::uint32_t, NameTimes>;

void AddTime(const TraceSpan& span, std::int64_t ns, std::size_t steps, TimesByName& times) {
  NameTimes& row = times[span.name];
  row.ns.resize(steps);
  row.ns[static_cast<std::size_t>(span.step)] += ns;
  ++row.calls;
}

std::vector<StepTableRow> RowsOf(const Trace& trace, const TimesByName& times, std::size_t steps) {
  std::vector<std::pair<std::int64_t, StepTableRow>> rows;
  for (const auto& [name, time] : times) {
    StepTableRow row{trace.names[name], double(time.calls) / double(steps), {}};
    for (const std::int64_t ns : time.ns) row.seconds.push_back(SecondsOf(ns));
    rows.emplace_back(std::accumulate(time.ns.begin(), time.ns.end(), std::int64_t{0}),
                      std::move(row));
  }
  std::ranges::sort(rows, [](const auto& one, const auto& other) {
    if (one.first != other.first) return one.first > other.first;
    return one.second.name < other.second.name;
  });
  if (rows.size() > kMostStepTableRows) rows.resize(kMostStepTableRows);
  std::vector<StepTableRow> sorted;
  for (auto& [total, row] : rows) sorted.push_back(std::move(row));
  return sorted;
}

OrderedJson RowsJson(const std::vector<StepTableRow>& rows) {
  OrderedJson json = OrderedJson::array();
  for (const StepTableRow& row : rows) {
    json.push_back({{"name", row.name}, {"calls", row.calls}, {"seconds", row.seconds}});
  }
  return json;
}

std::vector<double> NumbersOf(const Json& object, const char* name) {
  std::vector<double> numbers;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return numbers;
  for (const Json& each : *found) numbers.push_back(each.is_number() ? each.get<double>() : 0);
  return numbers;
}

std::vector<StepTableRow> ReadRows(const Json& object, const char* name) {
  std::vector<StepTableRow> rows;
  const auto found = object.find(name);
  if (found == object.end() || !found->is_array()) return rows;
  for (const Json& each : *found) {
    if (!each.is_object() || !each.contains("name") || !each["name"].is_string()) continue;
    const Json calls = each.value("calls", Json(0));
    rows.push_back({each["name"].get<std::string>(), calls.is_number() ? calls.get<double>() : 0,
                    NumbersOf(each, "seconds")});
  }
  return rows;
}

// One number has one source: whoever lays two windows side by side sees the steps of their
// breakdowns.
std::vector<double> WallsOf(const TraceLinks& links, std::size_t most) {
  std::map<std::int64_t, std::pair<std::int64_t, std::int64_t>> by_step;  // time, and rows
  for (const DeviceBreakdown& device : MakeBreakdown(links)) {
    for (const BreakdownRow& row : device.steps) {
      auto& [ns, rows] = by_step[row.step];
      ns += row.range.length_ns();
      ++rows;
    }
  }
  std::vector<double> walls;
  for (const auto& [step, sum] : by_step) {
    if (walls.size() < most) walls.push_back(SecondsOf(sum.first / sum.second));
  }
  const std::vector<TraceStep>& steps = links.trace().steps;
  for (std::size_t i = 0; by_step.empty() && i < most; ++i) {
    walls.push_back(SecondsOf(steps[i].end_ns - steps[i].start_ns));
  }
  return walls;
}

}  // namespace

StepTable MakeStepTable(const TraceLinks& links) {
  const Trace& trace = links.trace();
  const std::size_t steps = std::min(trace.steps.size(), kMostStepTableSteps);
  StepTable table;
  if (steps == 0) return table;
  std::vector<std::int64_t> inner_ns(trace.spans.size());
  const auto is_operator = [&](std::size_t i) {
    return trace.spans[i].kind == SpanKind::kOperator;
  };
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const std::uint32_t parent = is_operator(i) ? links.ParentOf(std::uint32_t(i)) : links.kNone;
    if (parent != TraceLinks::kNone) inner_ns[parent] += trace.spans[i].duration_ns;
  }
  TimesByName kernels, operators;
  for (std::size_t i = 0; i < trace.spans.size(); ++i) {
    const TraceSpan& span = trace.spans[i];
    if (span.step == kNoStep || static_cast<std::size_t>(span.step) >= steps) continue;
    const bool kernel = span.kind == SpanKind::kKernel || span.kind == SpanKind::kCommunication;
    if (kernel) AddTime(span, span.duration_ns, steps, kernels);
    const std::int64_t own_ns = std::max<std::int64_t>(span.duration_ns - inner_ns[i], 0);
    if (is_operator(i)) AddTime(span, own_ns, steps, operators);
  }
  table.walls = WallsOf(links, steps);
  table.kernels = RowsOf(trace, kernels, steps);
  table.operators = RowsOf(trace, operators, steps);
  return table;
}

OrderedJson ToJson(const StepTable& table) {
  return {{"walls", table.walls},
          {"kernels", RowsJson(table.kernels)},
          {"operators", RowsJson(table.operators)}};
}

Result<StepTable> ReadStepTable(std::string_view text) {
  const auto json = ParseJson(text, {.bytes = 64 * 1024 * 1024, .values = 2'000'000});
  if (!json) return json.error();
  if (!json->is_object()) return Invalid("the table of steps is no object");
  return StepTable{NumbersOf(*json, "walls"), ReadRows(*json, "kernels"),
                   ReadRows(*json, "operators")};
}

}  // namespace stepscope
