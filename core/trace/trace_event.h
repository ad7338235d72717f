#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "core/trace/lenient_json.h"

namespace stepscope {

// An event of a trace file as its bytes have it; the views point into them. "" where a member is
// absent. Texts are not unescaped yet.
struct TraceEvent {
  std::string_view phase, category, name, process, thread, start, duration;
  // Of args: what spans have, and what metadata says.
  std::string_view correlation, external_id, bytes, device, stream, occupancy, grid, block;
  std::string_view graph, shapes, types, collective, group, group_size, in_elements, out_elements;
  std::string_view element_type;
  std::string_view allocated, reserved, device_type, device_id;
  std::string_view label;     // args.name, args.labels
  std::string_view step;      // TensorFlow, JAX and the cloud debugger: the number of a step
  std::string_view epoch_us;  // of metadata, by the cloud debugger: the zero of all times
  bool is_empty = false;      // {}, with which some lists of events end
};

// Reads one event, an object, in any order of its members. After kOk the cursor is behind it.
Scan ReadEvent(JsonCursor& cursor, TraceEvent& event);

// Microseconds with any decimals, as nanoseconds and exact to them. Nothing for what is no number,
// is not finite, or is beyond 292 years.
std::optional<std::int64_t> NanosecondsOf(std::string_view microseconds);

// An integer, or the whole part of a decimal number. Nothing for what is none or is beyond int64.
std::optional<std::int64_t> IntegerOf(std::string_view token);

}  // namespace stepscope
