// What a file says beside its spans: of itself, of processes and threads.

#include "core/trace/span_builder.h"
#include "core/trace/span_kinds.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLatestUs = 9'000'000'000'000'000;  // the year 2255

// The value of a member of an object as it stands; "" when there is none. For small objects.
std::string_view MemberOf(std::string_view object, std::string_view wanted) {
  JsonCursor cursor{object.data(), object.data() + object.size()};
  if (Expect(cursor, '{') != Scan::kOk) return {};
  for (;;) {
    SkipSpace(cursor);
    if (cursor.empty() || *cursor.at == '}') return {};
    if (*cursor.at == ',') {
      ++cursor.at;
      continue;
    }
    std::string_view key, raw;
    if (ReadText(cursor, key) != Scan::kOk || Expect(cursor, ':') != Scan::kOk) return {};
    if (SkipValue(cursor, raw) != Scan::kOk) return {};
    if (key == wanted) return raw;
  }
}

std::string TextIn(std::string_view raw) {
  if (raw.size() >= 2 && raw.front() == '"') raw = raw.substr(1, raw.size() - 2);
  return Unescape(raw, 256);
}

bool IsTrue(std::string_view raw) {
  return raw == "1" || raw == "true";
}

std::int64_t NumberIn(std::string_view object, std::string_view member) {
  const std::string_view token = MemberOf(object, member);
  return token.empty() ? -1 : IntegerOf(token).value_or(-1);
}

}  // namespace

void SpanBuilder::AddMetadata(const TraceEvent& event) {
  if (process_names_.size() + thread_names_.size() >= 2 * limits_.tracks) return;
  const std::string process = Unescape(event.process, 256);
  if (const auto epoch_us = IntegerOf(event.epoch_us); epoch_us && *epoch_us > 0) {
    has_epoch_ = true;
    if (!trace_.has_base && *epoch_us < kLatestUs) trace_.base_ns = *epoch_us * 1'000;
    trace_.has_base = trace_.has_base || *epoch_us < kLatestUs;
  }
  if (event.name == "process_name") process_names_[process] = Unescape(event.label, 256);
  if (event.name == "thread_name") {
    thread_names_[process + '\1' + Unescape(event.thread, 256)] = Unescape(event.label, 256);
  }
}

void SpanBuilder::AddMember(std::string_view key, std::string_view raw) {
  if (key == "baseTimeNanoseconds") {
    const auto base = IntegerOf(raw);
    trace_.has_base = base && *base >= 0;
    trace_.base_ns = trace_.has_base ? *base : 0;
  }
  if (key == "distributedInfo") {
    trace_.rank = NumberIn(raw, "rank");
    trace_.world_size = NumberIn(raw, "world_size");
    trace_.backend = TextIn(MemberOf(raw, "backend"));
  }
  if (key == "deviceProperties") {
    const std::size_t first = raw.find('{');
    if (first != std::string_view::npos) {
      trace_.device_name = TextIn(MemberOf(raw.substr(first), "name"));
    }
  }
  if (key == "host_name") trace_.host = TextIn(raw);
  if (key == "trace_id") trace_.trace_id = TextIn(raw);
  if (key == "record_shapes") trace_.with_shapes = IsTrue(raw);
  if (key == "with_stack") trace_.with_stack = IsTrue(raw);
  if (key == "profile_memory") trace_.with_memory = IsTrue(raw);
}

void SpanBuilder::NameTracks() {
  for (TraceTrack& track : trace_.tracks) {
    const auto process = process_names_.find(track.process);
    if (process != process_names_.end()) track.process_name = process->second;
    const auto thread = thread_names_.find(track.process + '\1' + track.thread);
    if (thread != thread_names_.end()) track.thread_name = thread->second;
    if (track.on_device && IsAscendDevice(track.process_name)) {
      track.device = 0;  // a file is of one rank, which has one
      track.stream = StreamIn(track.thread_name).value_or(track.stream);
    }
    if (!track.on_device || !track.process_name.starts_with("/device:")) continue;
    track.device = DeviceIn(track.process_name).value_or(track.device);
    track.stream = StreamIn(track.thread_name).value_or(track.stream);
  }
}

}  // namespace stepscope
