#include "server/trace/chrome_trace.h"

#include <set>
#include <utility>

#include "core/base/text.h"

namespace stepscope {
namespace {

// Texts stand as the file had them: a list of numbers is one again.
OrderedJson ValueOf(const std::string& text) {
  const bool nested = !text.empty() && (text[0] == '[' || text[0] == '{');
  OrderedJson value = nested ? OrderedJson::parse(text, nullptr, false) : OrderedJson(text);
  return value.is_discarded() ? OrderedJson(text) : value;
}

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

// A start of 0 stands for a record that was never filled in: times in the file count from this
// before the first span.
constexpr std::int64_t kLeadNs = 1'000'000;

// A track, its process and thread as texts of JSON: numbers where they are numbers.
struct TrackTexts {
  std::string process = "0", thread = "0";
  std::string arguments;  // device and stream, ready to be written
};
std::string IdText(const std::string& text) {
  return ParseInt(text, "id") ? text : Dump(Json(text));
}

std::string_view Or(std::string_view text, std::string_view otherwise) {
  return text.empty() ? otherwise : text;
}

void AddName(std::string_view what, const TrackTexts& track, const Json& name, std::string& text) {
  if (!name.is_string()) return;
  text +=
      Format(",\n{{\"ph\":\"M\",\"name\":\"{}\",\"pid\":{},\"tid\":{},\"args\":{{\"name\":{}}}}}",
             what, track.process, what == "process_name" ? "0" : track.thread, Dump(name));
}

class ChromeText {
 public:
  explicit ChromeText(const ExportedTrace& exported) : exported_(exported) {
    for (const auto& [id, name] : exported.names) quoted_[id] = Dump(Json(name));
  }

  std::string Make() {
    Begin();
    AddTracks();
    for (const TraceSpan& span : exported_.spans) Add(span);
    return std::move(text_) + "\n]}\n";
  }

 private:
  // Times of a trace with a clock of its own stay on it.
  void Begin() {
    const Json& summary = exported_.summary;
    const Json base_text = summary.value("base_ns", Json());
    const auto base = ParseInt(base_text.is_string() ? base_text.get<std::string>() : "0", "base");
    const bool since_epoch = summary.value("on_our_clock", Json()) == Json(true);
    const std::int64_t base_ns = base ? *base : 0;
    shift_ns_ = since_epoch ? kLeadNs : base_ns;
    Json job = {{"rank", exported_.rank}};
    for (const char* const key : {"world_size", "backend"}) {
      if (summary.contains(key) && !summary[key].is_null()) job[key] = summary[key];
    }
    text_ = Format("{{\"schemaVersion\":1,\"distributedInfo\":{},\"displayTimeUnit\":\"ms\",",
                   Dump(job));
    if (since_epoch) text_ += Format("\"baseTimeNanoseconds\":{},", base_ns - kLeadNs);
    const Json device = summary.value("device_name", Json()), host = summary.value("host", Json());
    if (device.is_string()) {
      text_ += Format("\"deviceProperties\":[{{\"id\":0,\"name\":{}}}],", Dump(device));
    }
    if (host.is_string()) text_ += Format("\"host_name\":{},", Dump(host));
    if (summary.value("with_shapes", Json()) == Json(true)) text_ += "\"record_shapes\":1,";
    if (summary.value("with_stack", Json()) == Json(true)) text_ += "\"with_stack\":1,";
    text_ += "\"traceEvents\":[\n{\"ph\":\"M\",\"name\":\"stepscope\",\"pid\":0,\"tid\":0}";
  }

  void AddTracks() {
    const Json& tracks = exported_.tracks;
    const auto rows = tracks.is_object() ? tracks.find("tracks") : tracks.end();
    if (rows == tracks.end() || !rows->is_array()) return;
    std::set<std::string> processes;
    for (const Json& row : *rows) {
      TrackTexts track{IdText(row.value("process", "0")), IdText(row.value("thread", "0")), ""};
      const auto number = [&](const char* key) {
        const Json value = row.value(key, Json());
        return value.is_number_integer() ? value.get<std::int64_t>() : std::int64_t{-1};
      };
      if (number("device") >= 0) track.arguments += Format(",\"device\":{}", number("device"));
      if (number("stream") >= 0) track.arguments += Format(",\"stream\":{}", number("stream"));
      if (processes.insert(track.process).second) {
        AddName("process_name", track, row.value("process_name", Json()), text_);
      }
      AddName("thread_name", track, row.value("thread_name", Json()), text_);
      tracks_[row.value("track", std::int64_t{-1})] = std::move(track);
    }
  }

  // The arguments of a detail with a comma in front, made once.
  const std::string& DetailText(std::uint32_t id) {
    const auto known = details_.find(id);
    if (known != details_.end()) return known->second;
    std::string text;
    const auto detail = exported_.details.find(id);
    if (detail != exported_.details.end()) {
      const OrderedJson arguments = ArgumentsOf(detail->second, exported_.names);
      const std::string object = Dump(arguments);
      if (!arguments.empty()) text = "," + object.substr(1, object.size() - 2);
    }
    return details_[id] = std::move(text);
  }

  void Add(const TraceSpan& span) {
    static const TrackTexts no_track;
    const auto found = tracks_.find(span.track);
    const TrackTexts& track = found == tracks_.end() ? no_track : found->second;
    const auto name = quoted_.find(span.name);
    const std::int64_t start_ns = span.start_ns + shift_ns_;
    text_ += Format(
        ",\n{{\"ph\":\"X\",\"cat\":\"{}\",\"name\":{},\"pid\":{},\"tid\":{},\"ts\":{}.{:03},"
        "\"dur\":{}.{:03},\"args\":{{",
        CategoryOf(span.kind), Or(name == quoted_.end() ? "" : name->second, "\"\""), track.process,
        track.thread, start_ns / 1'000, start_ns % 1'000, span.duration_ns / 1'000,
        span.duration_ns % 1'000);
    std::string arguments;
    if (span.external != 0) arguments += Format(",\"External id\":{}", span.external);
    if (span.correlation != 0) arguments += Format(",\"correlation\":{}", span.correlation);
    if (IsDeviceWork(span.kind)) arguments += track.arguments;
    if (span.detail != kNoDetail) arguments += DetailText(span.detail);
    text_ += (arguments.empty() ? arguments : arguments.substr(1)) + "}}";
  }

  const ExportedTrace& exported_;
  std::map<std::uint32_t, std::string> quoted_, details_;
  std::map<std::int64_t, TrackTexts> tracks_;
  std::int64_t shift_ns_ = 0;
  std::string text_;
};

}  // namespace

OrderedJson ArgumentsOf(const SpanDetail& detail,
                        const std::map<std::uint32_t, std::string>& names) {
  OrderedJson arguments = OrderedJson::object();
  const auto text = [&](const char* key, std::uint32_t id) {
    const auto name = names.find(id);
    if (id != 0 && name != names.end()) arguments[key] = ValueOf(name->second);
  };
  const auto number = [&](const char* key, std::int64_t value) {
    if (value >= 0) arguments[key] = value;
  };
  number("bytes", detail.bytes);
  text("grid", detail.grid);
  text("block", detail.block);
  if (detail.occupancy >= 0) arguments["est. achieved occupancy %"] = detail.occupancy / 100.0;
  if (detail.graph != 0) arguments["graph id"] = detail.graph;
  text("Input Dims", detail.shapes);
  text("Collective name", detail.collective);
  text("Process Group Name", detail.group);
  text(detail.collective == 0 ? "Input type" : "dtype", detail.types);
  number("Group size", detail.group_size);
  number("In msg nelems", detail.in_elements);
  number("Out msg nelems", detail.out_elements);
  return arguments;
}

void AddNamesOf(const SpanDetail& detail, std::set<std::uint32_t>& names) {
  for (const std::uint32_t name :
       {detail.grid, detail.block, detail.shapes, detail.types, detail.collective, detail.group}) {
    if (name != 0) names.insert(name);
  }
}

std::string ChromeTrace(const ExportedTrace& exported) {
  return ChromeText(exported).Make();
}

}  // namespace stepscope
