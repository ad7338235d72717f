#include "core/wire/frame.h"

#include <algorithm>

#include "core/base/random.h"
#include "core/base/text.h"
#include "core/model/names.h"
#include "core/wire/bytes.h"
#include "core/wire/crc32c.h"

namespace stepscope {
namespace {

constexpr std::uint32_t kFrameMagic = 0x46535453;  // "STSF"
constexpr std::uint8_t kFrameVersion = 1;
constexpr std::size_t kCrcBytes = 4;
constexpr std::size_t kLongestNodeName = 63;
constexpr std::size_t kLargestSchema = 2 * 1024 * 1024;

bool IsKnownKind(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(FrameKind::kTicks) &&
         kind <= static_cast<std::uint8_t>(FrameKind::kLost);
}

Result<std::string_view> WithoutCrc(std::string_view bytes) {
  if (bytes.size() < kCrcBytes + 8) return Invalid("frame: cut short");
  if (bytes.size() > kMaxFrameBytes) {
    return Invalid(Format("frame: {} bytes, at most {} are allowed", bytes.size(), kMaxFrameBytes));
  }
  ByteReader start(bytes);
  if (start.Take<std::uint32_t>() != kFrameMagic) return Invalid("frame: not one of ours (magic)");
  if (const int version = start.Take<std::uint8_t>(); version != kFrameVersion) {
    return Invalid(Format("frame: version {} is not known, this service reads version {}", version,
                          kFrameVersion));
  }
  const std::string_view body = bytes.substr(0, bytes.size() - kCrcBytes);
  if (ByteReader(bytes.substr(body.size())).Take<std::uint32_t>() != Crc32c(body)) {
    return Invalid("frame: damaged (CRC)");
  }
  return body;
}

FrameHead TakeHead(ByteReader& reader) {
  reader.TakeBytes(sizeof(kFrameMagic) + sizeof(kFrameVersion));
  FrameHead head;
  const auto kind = reader.Take<std::uint8_t>();
  if (!IsKnownKind(kind)) reader.Fail();
  head.kind = static_cast<FrameKind>(kind);
  std::ranges::copy(reader.TakeBytes(head.session.size()), head.session.begin());
  head.sequence = reader.Take<std::uint64_t>();
  const auto created_us = reader.Take<std::int64_t>();
  // Beyond the year 2262 nanoseconds overflow; such a clock is refused later, by name.
  constexpr std::int64_t kLatest = 9'000'000'000'000'000;
  head.created = FromMicros(std::clamp<std::int64_t>(created_us, 0, kLatest));
  head.clock_offset_us = reader.Take<std::int64_t>();
  head.round_trip_us = reader.Take<std::int64_t>();
  head.schema_hash = reader.Take<std::uint64_t>();
  head.job = reader.TakeText(kLongestNodeName);
  head.node = reader.TakeText(kLongestNodeName);
  return head;
}

Status CheckHead(const FrameHead& head) {
  if (Status name = CheckJobName(head.job); !name.ok()) return name;
  if (Status node = CheckLabel("node", head.node); !node.ok()) return node;
  constexpr std::uint64_t kLargest = std::uint64_t{1} << 53;  // JSON carries no larger one
  if (head.sequence == 0 || head.sequence > kLargest)
    return Invalid("frame: sequence number 0 or above 2^53");
  return {};
}

Status TakeSchema(ByteReader& reader, Frame& frame) {
  const std::string_view bytes = reader.TakeText(kLargestSchema);
  if (bytes.empty()) return {};
  Result<Schema> schema = DecodeSchema(bytes);
  if (!schema.ok()) return schema.error();
  if (HashSchema(*schema) != frame.head.schema_hash)
    return Invalid("frame: the schema is not of its hash");
  frame.schema = std::move(*schema);
  return {};
}

}  // namespace

std::string_view ToText(FrameKind kind) {
  switch (kind) {
    case FrameKind::kTicks:
      return "ticks";
    case FrameKind::kSteps:
      return "steps";
    case FrameKind::kSpans:
      return "spans";
    case FrameKind::kLogLines:
      return "log lines";
    case FrameKind::kLifecycle:
      return "lifecycle";
    case FrameKind::kAnnotations:
      return "annotations";
    case FrameKind::kLost:
      return "lost";
  }
  return "unknown";
}

Session NewSession() {
  Session session{};
  std::ranges::copy(RandomBytes(session.size()), session.begin());
  return session;
}

std::string EncodeFrame(const Frame& frame) {
  const FrameHead& head = frame.head;
  std::string bytes;
  Put(bytes, kFrameMagic);
  Put(bytes, kFrameVersion);
  Put(bytes, static_cast<std::uint8_t>(head.kind));
  bytes.append(reinterpret_cast<const char*>(head.session.data()), head.session.size());
  Put(bytes, head.sequence);
  Put(bytes, ToMicros(head.created));
  Put(bytes, head.clock_offset_us);
  Put(bytes, head.round_trip_us);
  Put(bytes, head.schema_hash);
  PutText(bytes, head.job);
  PutText(bytes, head.node);
  PutText(bytes, frame.schema ? EncodeSchema(*frame.schema) : std::string());
  PutText(bytes, frame.payload);
  Put(bytes, Crc32c(bytes));
  return bytes;
}

Result<FrameHead> PeekHead(std::string_view bytes) {
  const Result<std::string_view> body = WithoutCrc(bytes);
  if (!body.ok()) return body.error();
  ByteReader reader(*body);
  FrameHead head = TakeHead(reader);
  if (!reader.ok()) return Invalid("frame: a head that does not fit");
  if (Status checked = CheckHead(head); !checked.ok()) return checked.error();
  return head;
}

Result<Frame> DecodeFrame(std::string_view bytes) {
  const Result<std::string_view> body = WithoutCrc(bytes);
  if (!body.ok()) return body.error();
  ByteReader reader(*body);
  Frame frame;
  frame.head = TakeHead(reader);
  if (!reader.ok()) return Invalid("frame: a head that does not fit");
  if (Status checked = CheckHead(frame.head); !checked.ok()) return checked.error();
  if (Status schema = TakeSchema(reader, frame); !schema.ok()) return schema.error();
  frame.payload = reader.TakeText(kMaxFrameBytes);
  if (!reader.ok() || reader.left() != 0) return Invalid("frame: wrong length");
  return frame;
}

void AppendToPush(std::string& push, std::string_view frame) {
  Put(push, static_cast<std::uint32_t>(frame.size()));
  push += frame;
}

Result<std::vector<std::string_view>> SplitPush(std::string_view push) {
  std::vector<std::string_view> frames;
  ByteReader reader(push);
  while (reader.left() > 0) {
    const auto length = reader.Take<std::uint32_t>();
    frames.push_back(reader.TakeBytes(length));
    if (!reader.ok()) return Invalid("push: cut short");
    if (frames.size() > kMaxFramesPerPush) {
      return Invalid(Format("push: more than {} frames", kMaxFramesPerPush));
    }
  }
  if (frames.empty()) return Invalid("push: no frame in it");
  return frames;
}

}  // namespace stepscope
