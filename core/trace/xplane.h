#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/trace/byte_source.h"
#include "core/trace/protobuf.h"
#include "core/trace/trace.h"

namespace stepscope {

// Profiles of TensorFlow and JAX (*.xplane.pb): a protobuf XSpace, with a plane for the host and
// one for each device, lines (threads, streams) in them, and events whose names are in a table of
// the plane (tsl/profiler/protobuf/xplane.proto).

// Whether a file begins like one, and not like JSON.
bool IsXPlane(std::string_view head);
inline constexpr std::size_t kXPlaneHead = 16;  // bytes that tell

// An XSpace as a Chrome trace: the text that TensorFlow and JAX would have written as
// trace.json.gz, with times since the epoch. One plane is in memory, 64 MiB at most; a larger one
// is left out. What cannot be read is counted in the faults.
class XPlaneText {
 public:
  static constexpr std::size_t kMostPlaneBytes = 64 * 1024 * 1024;

  // Both outlive it.
  XPlaneText(ByteSource& source, TraceFaults& faults) : source_(source), faults_(faults) {}

  // As ReadBytes.
  std::size_t Read(std::span<char> into);

 private:
  bool More();
  bool NextPlane();
  bool FillHead();
  bool TakePlane(std::uint64_t size);
  void Skip(std::uint64_t size);
  void BeginPlane();
  void BeginLine(std::string_view line);
  void WriteEvents();
  void WriteEvent(std::string_view event);
  void Write(std::string_view event);
  void Count(std::string_view reason);
  std::string_view NameOf(std::uint64_t metadata_id) const;

  ByteSource& source_;
  TraceFaults& faults_;
  std::string head_;  // what was read of the file and not used yet
  bool source_ended_ = false;

  std::string plane_;
  std::uint64_t planes_ = 0;
  std::string_view plane_name_;
  std::vector<std::string_view> lines_;
  std::size_t next_line_ = 0;
  std::optional<ProtobufReader> events_;  // events of the line that is being written
  std::int64_t line_ns_ = 0;              // since the base
  std::uint64_t line_id_ = 0;
  std::map<std::uint64_t, std::string_view> names_;  // of events
  std::uint64_t step_stat_ = 0, correlation_stat_ = 0;

  std::string out_;
  std::size_t given_ = 0;
  bool begun_ = false, ended_ = false, any_ = false;
  std::int64_t base_ns_ = 0;
  bool has_base_ = false;
};

}  // namespace stepscope
