#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/trace/trace.h"
#include "core/trace/trace_event.h"

namespace stepscope {

struct TraceLimits {
  std::uint64_t bytes = std::uint64_t{16} << 30;  // unpacked
  std::size_t spans = std::size_t{1} << 22;
  std::size_t memory_events = std::size_t{1} << 20;
  std::size_t names = 200'000, name_bytes = 4'096, dictionary_bytes = 32 * 1024 * 1024;
  std::size_t details = std::size_t{1} << 19, tracks = 16'384;
};

// Turns events of a file into spans, names, tracks and metadata. What finds no room, and what makes
// no sense, is counted in the trace's faults.
class SpanBuilder {
 public:
  SpanBuilder(Trace& trace, const TraceLimits& limits) : trace_(trace), limits_(limits) {}

  void AddEvent(const TraceEvent& event);
  void AddMember(std::string_view key, std::string_view raw);  // metadata beside the events
  void Finish();                                               // after the last event

 private:
  struct TextHash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>()(text);
    }
  };
  using TextIndex = std::unordered_map<std::string, std::uint32_t, TextHash, std::equal_to<>>;

  // A span that has begun; its end is another event.
  struct OpenSpan {
    TraceSpan span;
    bool kept = false;  // false: it found no room, and neither does its end
  };

  void AddSpan(const TraceEvent& event);
  void Begin(const TraceEvent& event);
  void End(const TraceEvent& event);
  std::optional<std::int64_t> StartOf(const TraceEvent& event);
  bool MakeSpan(const TraceEvent& event, std::int64_t start_ns, TraceSpan& span);
  void Keep(const TraceSpan& span);
  std::vector<OpenSpan>* OpenOn(const TraceEvent& event);
  void NameTracks();
  void AddMemory(const TraceEvent& event);
  void AddMetadata(const TraceEvent& event);
  std::uint32_t NameOf(std::string_view raw);
  int TrackOf(const TraceEvent& event, bool on_device);
  std::uint32_t DetailOf(const TraceEvent& event, SpanKind kind);
  SpanKind KindOf(const TraceEvent& event, std::uint32_t name);
  SpanKind KindWithoutCategory(const TraceEvent& event) const;
  bool IsStep(const TraceEvent& event) const;
  std::string_view ProcessName(const TraceEvent& event) const;
  void Count(std::string_view reason);

  Trace& trace_;
  const TraceLimits limits_;
  TextIndex names_, tracks_;
  std::size_t dictionary_bytes_ = 0;
  std::string track_key_, last_track_key_;
  int last_track_ = -1;
  std::map<SpanDetail, std::uint32_t> details_;
  std::map<std::string, std::string, std::less<>> process_names_, thread_names_;
  std::unordered_map<std::string, std::vector<OpenSpan>, TextHash, std::equal_to<>> open_;
  std::size_t open_count_ = 0;
  std::vector<std::int8_t> communicates_;  // by name: whether a kernel does; -1: not asked yet
  bool has_epoch_ = false;                 // a timeline of the cloud debugger
  std::string step_name_;
};

}  // namespace stepscope
