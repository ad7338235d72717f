#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace stepscope {

// A profiler's recording of a few steps of one rank as span tables: what every trace file becomes,
// whatever wrote it (docs/windows.md).

enum class SpanKind : std::uint8_t {
  kOperator,       // on the CPU: aten::conv2d
  kLaunch,         // a call of the runtime or driver: cudaLaunchKernel, cudaStreamSynchronize
  kKernel,         // on a device, not communication
  kCommunication,  // a kernel that moves data between ranks: nccl*
  kCopy,           // on a device: Memcpy HtoD
  kSet,            // on a device: Memset
  kSync,           // on a device: a stream waits for an event
  kAnnotation,     // named by the user or the profiler, on the CPU: ProfilerStep#7
  kGpuAnnotation,  // an annotation from its first to its last kernel in a stream
  kPython,         // a Python frame
  kOverhead,       // what the profiler costs
  kOther,
};
inline constexpr std::string_view kSpanKindWords[] = {
    "operator", "launch",     "kernel",         "communication", "copy",     "set",
    "sync",     "annotation", "gpu_annotation", "python",        "overhead", "other",
};
std::string_view ToText(SpanKind kind);
bool IsDeviceWork(SpanKind kind);  // kernels, communication, copies, sets

inline constexpr std::uint32_t kNoDetail = 0;
inline constexpr std::int32_t kNoStep = -1;

// Times count from Trace::base_ns.
struct TraceSpan {
  std::int64_t start_ns = 0, duration_ns = 0;
  std::uint32_t name = 0;            // index into Trace::names
  std::uint32_t correlation = 0;     // joins a launch and its device work; 0: none
  std::uint32_t external = 0;        // joins an operator and its device work; 0: none
  std::uint32_t detail = kNoDetail;  // index into Trace::details
  std::int32_t step = kNoStep;       // index into Trace::steps
  std::uint16_t track = 0;           // index into Trace::tracks
  SpanKind kind = SpanKind::kOther;

  std::int64_t end_ns() const { return start_ns + duration_ns; }
};

// What only some spans have; many share one.
struct SpanDetail {
  std::int64_t bytes = -1;      // copied or set; -1: not said
  std::int32_t occupancy = -1;  // hundredths of a percent; -1: not said
  std::uint32_t grid = 0, block = 0, shapes = 0, types = 0;  // indices into names; 0: not said
  std::uint32_t collective = 0, group = 0;                   // indices into names
  std::int64_t in_elements = -1, out_elements = -1, group_size = -1;
  std::int64_t graph = 0;  // the graph that launched a kernel; 0: none

  auto operator<=>(const SpanDetail&) const = default;
};

// A thread of the host or a stream of a device.
struct TraceTrack {
  std::string process, thread;            // as the file has them: "4711", "stream 7"
  std::string process_name, thread_name;  // as the file names them; "" when it does not
  bool on_device = false;
  std::int64_t device = -1, stream = -1;  // where on_device; -1: not said
  std::uint64_t spans = 0;
};

struct TraceStep {
  std::int64_t number = 0, start_ns = 0, end_ns = 0;  // on the host
};
enum class StepMarkers { kNone, kProfiler, kOptimizer };

// An allocation, or with negative bytes the freeing of one.
struct MemoryEvent {
  std::int64_t at_ns = 0, bytes = 0, allocated = -1, reserved = -1;  // -1: not said
  std::int32_t device = -1;                                          // -1: the CPU
  std::uint16_t track = 0;
};

// What could not be read, by reason, and how often: `duplicate`, `no_start`, `truncated`.
using TraceFaults = std::map<std::string, std::uint64_t, std::less<>>;

struct Trace {
  std::deque<std::string> names{1};  // the first is ""
  std::vector<SpanDetail> details{SpanDetail{}};
  std::vector<TraceTrack> tracks;
  std::deque<TraceSpan> spans;     // by track and start, the longer first, once arranged
  std::deque<MemoryEvent> memory;  // by time, once arranged
  std::vector<TraceStep> steps;
  StepMarkers step_markers = StepMarkers::kNone;
  TraceFaults faults;

  std::int64_t base_ns = 0;                 // the zero of all times, since the epoch
  bool has_base = false;                    // false: spans may lie on a clock of their own
  std::int64_t rank = -1, world_size = -1;  // -1: not said
  std::string host, trace_id, device_name, backend;
  bool with_shapes = false, with_stack = false, with_memory = false;
  std::uint64_t bytes = 0, events = 0;  // that were read, as JSON; events of every phase

  const std::string& NameOf(const TraceSpan& span) const { return names[span.name]; }
};

}  // namespace stepscope
