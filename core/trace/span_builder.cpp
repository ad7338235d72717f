#include "core/trace/span_builder.h"

#include <algorithm>

#include "core/trace/span_kinds.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLongestNs = 86'400'000'000'000;  // a day: what is longer is no duration
constexpr std::uint32_t kMostNumber = 0xffffffff;
constexpr std::int8_t kNotAsked = -1;
constexpr std::size_t kMostOpen = 65'536;  // spans of all threads that have begun

std::uint32_t SmallNumberOf(std::string_view token) {
  const auto number = token.empty() ? std::nullopt : IntegerOf(token);
  return number && *number > 0 && *number <= kMostNumber ? static_cast<std::uint32_t>(*number) : 0;
}

std::int64_t NumberOr(std::string_view token, std::int64_t otherwise) {
  return token.empty() ? otherwise : IntegerOf(token).value_or(otherwise);
}

// An occupancy in percent, in hundredths of it.
std::int32_t OccupancyOf(std::string_view token) {
  const auto thousandths = token.empty() ? std::nullopt : NanosecondsOf(token);
  if (!thousandths || *thousandths < 0 || *thousandths > 100'000) return -1;
  return static_cast<std::int32_t>(*thousandths / 10);
}

}  // namespace

void SpanBuilder::Count(std::string_view reason) {
  const auto found = trace_.faults.find(reason);
  if (found != trace_.faults.end()) {
    ++found->second;
  } else {
    trace_.faults.emplace(reason, 1);
  }
}

void SpanBuilder::AddEvent(const TraceEvent& event) {
  if (event.is_empty) return;
  ++trace_.events;
  if (event.phase == "X") return AddSpan(event);
  if (event.phase == "B") return Begin(event);
  if (event.phase == "E") return End(event);
  if (event.phase == "M") return AddMetadata(event);
  if (event.phase == "i" || event.phase == "I") {
    if (event.name == "[memory]") AddMemory(event);
    return;
  }
  // Arrows between spans: launches are joined by correlation, which is more reliable.
  if (event.phase == "s" || event.phase == "t" || event.phase == "f") return;
  Count(event.phase.empty() ? "no_phase" : "phase_not_read");
}

std::uint32_t SpanBuilder::NameOf(std::string_view raw) {
  if (raw.empty()) return 0;
  raw = raw.substr(0, limits_.name_bytes);
  if (const auto known = names_.find(raw); known != names_.end()) return known->second;
  if (trace_.names.size() >= limits_.names ||
      dictionary_bytes_ + raw.size() > limits_.dictionary_bytes) {
    Count("names_beyond_limit");
    return 0;
  }
  dictionary_bytes_ += raw.size();
  const auto id = static_cast<std::uint32_t>(trace_.names.size());
  trace_.names.push_back(Unescape(raw, limits_.name_bytes));
  names_.emplace(raw, id);
  return id;
}

// -1 when there is no room for one more.
int SpanBuilder::TrackOf(const TraceEvent& event, bool on_device) {
  track_key_.assign(event.process.substr(0, 256));
  track_key_ += on_device ? '\1' : '\2';
  track_key_.append(event.thread.substr(0, 256));
  if (track_key_ == last_track_key_) return last_track_;
  auto known = tracks_.find(track_key_);
  if (known == tracks_.end()) {
    if (trace_.tracks.size() >= limits_.tracks) return -1;
    known = tracks_.emplace(track_key_, trace_.tracks.size()).first;
    TraceTrack track;
    track.process = Unescape(event.process.substr(0, 256), 256);
    track.thread = Unescape(event.thread.substr(0, 256), 256);
    track.on_device = on_device;
    if (on_device) {
      track.device = NumberOr(event.device, NumberOr(event.process, -1));
      track.stream = NumberOr(event.stream, NumberOr(event.thread, -1));
    }
    trace_.tracks.push_back(std::move(track));
  }
  last_track_key_ = track_key_;
  return last_track_ = static_cast<int>(known->second);
}

std::string_view SpanBuilder::ProcessName(const TraceEvent& event) const {
  const auto known = process_names_.find(event.process);
  return known == process_names_.end() ? std::string_view() : known->second;
}

// A step that TensorFlow, JAX or the cloud debugger marks.
bool SpanBuilder::IsStep(const TraceEvent& event) const {
  if (!event.category.empty() || event.step.empty() || !IntegerOf(event.step)) return false;
  return event.name.starts_with("Step:") || ProcessName(event).starts_with("/host:");
}

SpanKind SpanBuilder::KindWithoutCategory(const TraceEvent& event) const {
  if (IsStep(event)) return SpanKind::kAnnotation;
  const std::string_view process = ProcessName(event);
  std::string_view thread;
  const auto known =
      thread_names_.find(std::string(event.process) + '\1' + std::string(event.thread));
  if (known != thread_names_.end()) thread = known->second;
  const SpanKind kind = KindInPlace(process, thread, event.name);
  return kind == SpanKind::kOther && has_epoch_ ? SpanKind::kAnnotation : kind;
}

SpanKind SpanBuilder::KindOf(const TraceEvent& event, std::uint32_t name) {
  SpanKind kind = SpanKind::kOther;
  if (!event.category.empty()) {
    kind = KindOfCategory(event.category);
  } else if (event.name.starts_with("ProfilerStep#") || event.name.starts_with("Optimizer.") ||
             event.name.starts_with("enumerate(DataLoader)")) {
    kind = SpanKind::kAnnotation;  // the format of PyTorch 1.13 without Kineto has no categories
  } else if (event.process == "CUDA functions") {
    kind = SpanKind::kKernel;
  } else if (event.process == "CPU functions") {
    kind = SpanKind::kOperator;
  } else {
    kind = KindWithoutCategory(event);
  }
  if (kind != SpanKind::kKernel) return kind;
  if (communicates_.size() <= name) communicates_.resize(trace_.names.size(), kNotAsked);
  if (communicates_[name] == kNotAsked) communicates_[name] = IsCommunication(trace_.names[name]);
  return communicates_[name] == 1 ? SpanKind::kCommunication : kind;
}

std::uint32_t SpanBuilder::DetailOf(const TraceEvent& event, SpanKind kind) {
  SpanDetail detail;
  if (IsDeviceWork(kind)) {
    detail.bytes = NumberOr(event.bytes, -1);
    detail.occupancy = OccupancyOf(event.occupancy);
    detail.grid = NameOf(event.grid);
    detail.block = NameOf(event.block);
    detail.graph = NumberOr(event.graph, 0);
  } else if (kind == SpanKind::kLaunch) {
    detail.bytes = NumberOr(event.bytes, -1);
  } else {
    detail.shapes = NameOf(event.shapes);
    detail.types = NameOf(event.types);
  }
  if (!event.collective.empty()) {
    detail.collective = NameOf(event.collective);
    detail.group = NameOf(event.group);
    detail.types = NameOf(event.element_type);
    detail.group_size = NumberOr(event.group_size, -1);
    detail.in_elements = NumberOr(event.in_elements, -1);
    detail.out_elements = NumberOr(event.out_elements, -1);
  }
  if (detail == SpanDetail{}) return kNoDetail;
  const auto known = details_.find(detail);
  if (known != details_.end()) return known->second;
  if (trace_.details.size() >= limits_.details) {
    Count("details_beyond_limit");
    return kNoDetail;
  }
  const auto id = static_cast<std::uint32_t>(trace_.details.size());
  trace_.details.push_back(detail);
  details_.emplace(detail, id);
  return id;
}

std::optional<std::int64_t> SpanBuilder::StartOf(const TraceEvent& event) {
  const auto start = NanosecondsOf(event.start);
  if (event.start.empty()) return Count("no_start"), std::nullopt;
  if (!start || *start < 0) return Count("bad_start"), std::nullopt;
  return start;
}

// All of a span but its duration; false where it is counted instead.
bool SpanBuilder::MakeSpan(const TraceEvent& event, std::int64_t start_ns, TraceSpan& span) {
  if (IsStep(event)) step_name_ = "ProfilerStep#" + std::to_string(*IntegerOf(event.step));
  const std::uint32_t name = NameOf(IsStep(event) ? std::string_view(step_name_) : event.name);
  if (name == 0) Count("no_name");
  const SpanKind kind = KindOf(event, name);
  const bool on_device =
      IsDeviceWork(kind) || kind == SpanKind::kSync || kind == SpanKind::kGpuAnnotation;
  if (on_device && start_ns == 0) {  // a record that was never filled in
    return Count("no_start"), false;
  }
  const int track = TrackOf(event, on_device);
  if (track < 0) return Count("tracks_beyond_limit"), false;
  span = {.start_ns = start_ns,
          .name = name,
          .correlation = SmallNumberOf(event.correlation),
          .external = SmallNumberOf(event.external_id),
          .detail = DetailOf(event, kind),
          .track = static_cast<std::uint16_t>(track),
          .kind = kind};
  return true;
}

void SpanBuilder::Keep(const TraceSpan& span) {
  if (trace_.spans.size() >= limits_.spans) return Count("spans_beyond_limit");
  ++trace_.tracks[span.track].spans;
  trace_.spans.push_back(span);
}

void SpanBuilder::AddSpan(const TraceEvent& event) {
  if (trace_.spans.size() >= limits_.spans) return Count("spans_beyond_limit");
  const auto start = StartOf(event);
  if (!start) return;
  const auto duration =
      event.duration.empty() ? std::optional<std::int64_t>(0) : NanosecondsOf(event.duration);
  if (event.duration.empty()) Count("no_duration");
  if (!duration || *duration < 0 || *duration > kLongestNs) return Count("bad_duration");
  TraceSpan span;
  if (!MakeSpan(event, *start, span)) return;
  span.duration_ns = *duration;
  Keep(span);
}

// Spans of a thread that have begun, the innermost last; null where there is none and no room for
// one more thread.
std::vector<SpanBuilder::OpenSpan>* SpanBuilder::OpenOn(const TraceEvent& event) {
  std::string key(event.process.substr(0, 256));
  key += '\1';
  key.append(event.thread.substr(0, 256));
  const auto known = open_.find(key);
  if (known != open_.end()) return &known->second;
  return open_.size() < limits_.tracks ? &open_[std::move(key)] : nullptr;
}

void SpanBuilder::Begin(const TraceEvent& event) {
  const auto start = StartOf(event);
  if (!start) return;
  if (open_count_ >= kMostOpen) return Count("spans_beyond_limit");
  std::vector<OpenSpan>* const open = OpenOn(event);
  if (open == nullptr) return Count("tracks_beyond_limit");
  OpenSpan begun;
  begun.kept = MakeSpan(event, *start, begun.span);
  open->push_back(begun);
  ++open_count_;
}

// An end is that of the span that began last in its thread.
void SpanBuilder::End(const TraceEvent& event) {
  const auto at = StartOf(event);
  if (!at) return;
  std::vector<OpenSpan>* const open = OpenOn(event);
  if (open == nullptr || open->empty()) return Count("end_without_begin");
  OpenSpan begun = open->back();
  open->pop_back();
  --open_count_;
  if (!begun.kept) return;
  begun.span.duration_ns = *at - begun.span.start_ns;
  if (begun.span.duration_ns < 0 || begun.span.duration_ns > kLongestNs) {
    return Count("bad_duration");
  }
  Keep(begun.span);
}

void SpanBuilder::AddMemory(const TraceEvent& event) {
  const auto at = NanosecondsOf(event.start);
  const auto bytes = IntegerOf(event.bytes);
  if (!at || *at < 0 || !bytes) return Count("bad_memory_event");
  if (trace_.memory.size() >= limits_.memory_events) return Count("memory_beyond_limit");
  const int track = TrackOf(event, false);
  if (track < 0) return Count("tracks_beyond_limit");
  const bool on_device = NumberOr(event.device_type, 0) != 0;
  const std::int64_t device =
      on_device ? std::clamp<std::int64_t>(NumberOr(event.device_id, 0), 0, 65'535) : -1;
  trace_.memory.push_back({.at_ns = *at,
                           .bytes = *bytes,
                           .allocated = NumberOr(event.allocated, -1),
                           .reserved = NumberOr(event.reserved, -1),
                           .device = static_cast<std::int32_t>(device),
                           .track = static_cast<std::uint16_t>(track)});
}

void SpanBuilder::Finish() {
  if (open_count_ > 0) trace_.faults["begin_without_end"] += open_count_;
  NameTracks();
}

}  // namespace stepscope
