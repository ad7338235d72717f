#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/time.h"
#include "core/model/table.h"

namespace stepscope {

enum class FrameKind : std::uint8_t {
  kTicks = 1,
  kSteps = 2,
  kSpans = 3,
  kLogLines = 4,
  kLifecycle = 5,
  kAnnotations = 6,
  kLost = 7,
};
std::string_view ToText(FrameKind kind);

// A session's id: 16 random bytes, new at every start of an agent.
using Session = std::array<std::uint8_t, 16>;

// The largest frame; DecodeFrame refuses a larger one, so that a sender cannot claim more memory.
inline constexpr std::size_t kMaxFrameBytes = 1024 * 1024;
inline constexpr std::size_t kMaxSeriesPerFrame = 20'000;
inline constexpr std::size_t kMaxRowsPerFrame =
    600;  // for ticks; steps and statistics have kMaxStepsPerFrame
inline constexpr std::size_t kMaxStepsPerFrame = 16'384;
inline constexpr std::size_t kMaxFramesPerPush = 256;
inline constexpr std::size_t kMaxPushBytes = 4 * 1024 * 1024;

inline constexpr std::string_view kFramesContentType = "application/vnd.stepscope.frames";

// The header of every frame.
struct FrameHead {
  FrameKind kind = FrameKind::kTicks;
  Session session{};
  std::uint64_t sequence = 0;        // from 1 in each session, no holes, never used twice
  Time created{};                    // the node's wall clock when the frame was cut
  std::int64_t clock_offset_us = 0;  // service minus node, as last measured; 0 before
  std::int64_t round_trip_us = 0;    // round trip of that measurement; 0: not measured yet
  std::string job;
  std::string node;
  std::uint64_t schema_hash = 0;  // 0 for kinds without a table
};

// A decoded frame; the payload is still encoded, so that it can be stored unchanged.
struct Frame {
  FrameHead head;
  std::optional<Schema> schema;  // sent once in each session, and when asked for
  std::string payload;           // a table (EncodeTable) for ticks, steps, annotations; else JSON
};

// The frame's bytes, CRC included, without the length prefix of a push.
std::string EncodeFrame(const Frame& frame);

// Checks magic, version, lengths, CRC-32C, names and the schema's hash; not the payload. Invalid
// names the fault. A refused frame gives no head, even where its head can be read: see PeekHead.
Result<Frame> DecodeFrame(std::string_view bytes);

// Job, session and sequence of a frame whose CRC holds, to report a frame that is refused.
Result<FrameHead> PeekHead(std::string_view bytes);

// Appends a frame to a push, with its length in front (u32, little-endian).
void AppendToPush(std::string& push, std::string_view frame);
Result<std::vector<std::string_view>> SplitPush(std::string_view push);

// First 8 bytes of the SHA-256 of the encoded schema, never 0.
std::uint64_t HashSchema(const Schema& schema);
std::string EncodeSchema(const Schema& schema);
Result<Schema> DecodeSchema(std::string_view bytes);

Session NewSession();

}  // namespace stepscope
