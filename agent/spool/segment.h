#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/wire/frame.h"

namespace stepscope {

// A segment of the spool: records one after the other, integers little-endian.
//
//   u32 bytes of the payload | u32 CRC-32C of what follows | u8 kind | u64 number
//   | i64 from_us | i64 to_us | u64 samples | payload
enum class RecordKind : std::uint8_t {
  kHead = 1,   // owner of the segment; its first record
  kFrame = 2,  // the payload is a frame as on the wire
  kLost = 3,   // numbers that will never come: u64 last, then the reason
  kPart = 4,   // a frame still being gathered, with a number of its own
};

struct SegmentRecord {
  RecordKind kind = RecordKind::kFrame;
  std::uint64_t number = 0;
  std::int64_t from_us = 0, to_us = 0;
  std::uint64_t samples = 0;
  std::string_view payload{};
  std::size_t offset = 0;  // start of the payload, in the bytes that were scanned
};

struct SegmentHead {
  Session session{};
  std::int64_t created_us = 0;  // start of the session
  std::string job{}, node{};
  std::string service{};  // the service that its frames are for
};

inline constexpr std::size_t kRecordHeaderBytes = 41;

std::string EncodeRecord(const SegmentRecord& record);
std::string EncodeHeadRecord(const SegmentHead& head, std::uint64_t number);
std::string EncodeLostRange(std::uint64_t last, std::string_view reason);  // returns a payload
std::optional<SegmentHead> DecodeHead(std::string_view payload);

// Passes every good record to `take`, in order. A bad record costs itself alone: the scan goes on
// at the next good one, and where the bad one's length leads to it, skips the bytes in between.
// True when the last bytes are no good record.
bool ScanSegment(std::string_view bytes, const std::function<void(const SegmentRecord&)>& take);

}  // namespace stepscope
