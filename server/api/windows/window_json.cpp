#include "server/api/windows/window_json.h"

#include <algorithm>
#include <string>

#include "core/base/json_members.h"
#include "server/api/http/find_job.h"

namespace stepscope {
namespace {

OrderedJson ToJson(const WindowAnswer& answer) {
  OrderedJson json = {{"node", answer.node}};
  PutTime(json, "at", answer.at_us);
  json["recorded"] = answer.recorded;
  json["reason"] = NullIfEmpty(answer.reason);
  json["spans"] = answer.spans;
  json["dropped"] = answer.dropped;
  return json;
}

std::string_view WhatOf(const WindowRow& window) {
  const bool asked = window.asked_by != kAskedByPerson;
  if (window.operators || (window.of_traces && asked)) return "operators";
  return window.of_traces ? "trace" : "annotations";
}

void PutAnswers(OrderedJson& json, const WindowRow& window) {
  OrderedJson answers = OrderedJson::array();
  for (const WindowAnswer& answer : window.answers) answers.push_back(ToJson(answer));
  json["spans"] = window.of_traces ? window.spans : window.sent;
  json["dropped"] = window.dropped;
  json["answer_count"] = window.answer_count;
  json["answers"] = std::move(answers);
}

}  // namespace

OrderedJson ToJson(const TraceRow& trace) {
  OrderedJson json = {{"rank", trace.rank}, {"file", NullIfEmpty(trace.file)}};
  PutTime(json, "received", trace.received_us);
  PutTime(json, "from", trace.from_us);
  PutTime(json, "to", trace.to_us);
  json["spans"] = trace.spans;
  // As the summary was made, in its order: server/trace/answers/answers.cpp.
  for (const char* const key :
       {"rank_from", "on_our_clock", "world_size", "backend", "host", "device_name", "device_work",
        "with_shapes", "with_stack", "with_memory", "bytes", "events", "step_markers", "step_count",
        "track_count", "capture", "faults"}) {
    json[key] = OrderedJson(trace.summary.value(key, Json()));
  }
  return json;
}

OrderedJson WindowTeller::operator()(const WindowRow& window) const {
  const WindowState state = WindowStateOf(window, job, nodes, now_us);
  const bool no_steps = window.of_traces && window.num_steps == 0;
  OrderedJson json = {{"id", std::to_string(window.window_id)},
                      {"what", WhatOf(window)},
                      {"shapes", window.shapes},
                      {"asked_by", window.asked_by},
                      {"start_step", no_steps ? OrderedJson() : OrderedJson(window.start_step)},
                      {"num_steps", no_steps ? OrderedJson() : OrderedJson(window.num_steps)},
                      {"status", ToText(state.status)},
                      {"reason", NullIfEmpty(state.reason)}};
  PutTime(json, "asked", window.asked_us);
  PutAnswers(json, window);
  OrderedJson list = OrderedJson::array();
  for (const TraceRow& trace : traces) {
    if (trace.window_id == window.window_id) list.push_back(ToJson(trace));
  }
  const auto count = trace_counts.find(window.window_id);
  json["trace_count"] = count == trace_counts.end() ? 0 : count->second;
  json["traces"] = std::move(list);
  return json;
}

Status AddTraces(Connection& connection, const WindowRange& windows, std::int64_t most,
                 WindowTeller& tell) {
  Result<std::vector<TraceRow>> traces = ListTraces(connection, tell.job.job_id, windows, most);
  if (!traces) return traces.error();
  auto counts = CountTraces(connection, tell.job.job_id, windows);
  if (!counts) return counts.error();
  tell.traces = std::move(*traces);
  tell.trace_counts = std::move(*counts);
  return {};
}

Result<WindowRow> FindNamedWindow(Connection& connection, std::int64_t job_id,
                                  const PathParameters& path) {
  const Result<std::int64_t> id = ReadId(path, "window");
  if (!id) return id.error();
  return FindWindow(connection, job_id, *id);
}

}  // namespace stepscope
