#include "server/trace/chrome_trace.h"

#include "core/base/text.h"

namespace stepscope {
namespace {

// The category of a kind as Kineto has it.
std::string_view CategoryOf(SpanKind kind) {
  switch (kind) {
    case SpanKind::kOperator:
      return "cpu_op";
    case SpanKind::kLaunch:
      return "cuda_runtime";
    case SpanKind::kKernel:
    case SpanKind::kCommunication:
      return "kernel";
    case SpanKind::kCopy:
      return "gpu_memcpy";
    case SpanKind::kSet:
      return "gpu_memset";
    case SpanKind::kSync:
      return "cuda_sync";
    case SpanKind::kAnnotation:
      return "user_annotation";
    case SpanKind::kGpuAnnotation:
      return "gpu_user_annotation";
    case SpanKind::kPython:
      return "python_function";
    case SpanKind::kOverhead:
      return "overhead";
    case SpanKind::kOther:
      break;
  }
  return "other";
}

// The track's process and thread, as texts of JSON: numbers where they are numbers.
struct TrackIds {
  std::string process = "0", thread = "0";
};
std::string IdText(const std::string& text) {
  return ParseInt(text, "id") ? text : Dump(Json(text));
}

std::map<std::int64_t, TrackIds> IdsOf(const Json& tracks) {
  std::map<std::int64_t, TrackIds> ids;
  const auto rows = tracks.is_object() ? tracks.find("tracks") : tracks.end();
  if (rows == tracks.end() || !rows->is_array()) return ids;
  for (const Json& row : *rows) {
    ids[row.value("track", std::int64_t{-1})] = {IdText(row.value("process", "0")),
                                                 IdText(row.value("thread", "0"))};
  }
  return ids;
}

void AddSpan(const TraceSpan& span, const std::string& name, const TrackIds& ids,
             std::string& text) {
  text += Format(
      ",\n{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{}.{:03},"
      "\"dur\":{}.{:03},\"args\":{{",
      CategoryOf(span.kind), name, ids.process, ids.thread, span.start_ns / 1'000,
      span.start_ns % 1'000, span.duration_ns / 1'000, span.duration_ns % 1'000);
  if (span.external != 0) text += Format("\"External id\":{}", span.external);
  if (span.correlation != 0) {
    text += Format("{}\"correlation\":{}", span.external != 0 ? "," : "", span.correlation);
  }
  text += "}}";
}

}  // namespace

std::string ChromeTrace(std::span<const TraceSpan> spans,
                        const std::map<std::uint32_t, std::string>& names, const Json& tracks,
                        int rank) {
  const auto ids = IdsOf(tracks);
  std::map<std::uint32_t, std::string> quoted;
  for (const auto& [id, name] : names) quoted[id] = Dump(Json(name));
  std::string text = Format(
      "{{\"schemaVersion\":1,\"distributedInfo\":{{\"rank\":{}}},\"displayTimeUnit\":\"ms\","
      "\"traceEvents\":[\n{{\"ph\":\"M\",\"name\":\"stepscope\",\"pid\":0,\"tid\":0}}",
      rank);
  for (const TraceSpan& span : spans) {
    const auto found = ids.find(span.track);
    const auto name = quoted.find(span.name);
    AddSpan(span, name == quoted.end() ? "\"\"" : name->second,
            found == ids.end() ? TrackIds{} : found->second, text);
  }
  return text + "\n]}\n";
}

}  // namespace stepscope
