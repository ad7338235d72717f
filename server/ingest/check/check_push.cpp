// From bytes to checked frames. Nothing here writes; the schema of a hash may be looked up.

#include <algorithm>
#include <map>

#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "server/ingest/check/check_table.h"
#include "server/ingest/check/checked_push.h"
#include "server/store/jobs/clock_suspects.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLargestOffsetUs = 3'200'000'000'000'000;  // 100 years

// What is small takes some 100 us to read. A column costs as much as eight of its values: four
// ticks of 208 series count 2,500 and take 23 us.
constexpr std::size_t kSmallBytes = 16 * 1024, kSmallCost = 10'000, kColumnCost = 8;

struct RodeAlong {
  std::shared_ptr<const Schema> schema;
  std::shared_ptr<const std::string> encoded;
  std::int64_t job_id = 0;  // where it did not ride along
};

// One push while it is being read.
struct Reading {
  const FindKnownSchema& find_schema;
  std::optional<std::size_t> cost_left;  // of all tables; nothing: whatever it takes
  std::map<std::uint64_t, RodeAlong> rode_along = {};
  std::optional<PushRefusal> refusal = {};
  bool not_now = false;  // it is not small, or a schema has to be looked for
};

// By what the table says of its size; nothing for what is refused before any of it is read.
std::size_t CostOf(std::string_view payload) {
  constexpr TableLimits kMost;
  const Result<TableSize> size = ReadTableSize(payload);
  if (!size || size->rows > kMost.rows || size->columns > kMost.columns) return 0;
  return size->columns * (size->rows + kColumnCost);
}

// Samples, steps and annotations whose schema is known; all else is rare, and takes its time.
bool IsSmall(const Frame& frame, Reading& reading) {
  const FrameKind kind = frame.head.kind;
  const bool usual =
      kind == FrameKind::kTicks || kind == FrameKind::kSteps || kind == FrameKind::kAnnotations;
  const std::size_t cost = CostOf(frame.payload);
  if (!usual || frame.schema || cost > *reading.cost_left) return false;
  *reading.cost_left -= cost;
  return true;
}

RejectedFrame Rejected(std::uint64_t sequence, std::string code, std::string detail) {
  return {sequence, std::move(code), Printable(detail, 500)};
}

// Null with a refusal set, when the push cannot be judged. What came earlier in this push is stored
// with each frame that needs it: the frame that brought it may yet be refused.
RodeAlong SchemaOf(const Frame& frame, Reading& reading) {
  if (frame.schema) {
    return {std::make_shared<const Schema>(*frame.schema),
            std::make_shared<const std::string>(EncodeSchema(*frame.schema)), 0};
  }
  const auto found = reading.rode_along.find(frame.head.schema_hash);
  if (found != reading.rode_along.end()) return found->second;
  const Result<KnownSchema> known = reading.find_schema(frame.head);
  if (!known) {
    reading.refusal = {503, "unavailable", known.error().message};
    return {};
  }
  if (!known->schema && reading.cost_left) {
    reading.not_now = true;
  } else if (!known->schema) {
    reading.refusal = UnknownSchema(frame.head.sequence);
  }
  return {known->schema, nullptr, known->job_id};
}

CheckedFrame CheckTableFrame(Frame frame, Reading& reading) {
  const std::uint64_t sequence = frame.head.sequence;
  CheckedFrame checked{sequence, sequence, {}};
  const RodeAlong known = SchemaOf(frame, reading);
  if (!known.schema) return checked;
  TableFrame table;
  table.kind = frame.head.kind;
  table.schema_hash = frame.head.schema_hash;
  table.payload = std::move(frame.payload);
  table.clock_suspect = IsSuspectOffset(frame.head.clock_offset_us);
  // One that is known was checked when it rode along.
  std::optional<TableFault> fault =
      frame.schema ? CheckSchema(table.kind, *known.schema) : CheckKind(table.kind, *known.schema);
  if (!fault) fault = CheckTable(*known.schema, table);
  if (fault) {
    checked.content = Rejected(sequence, fault->code, fault->detail);
    return checked;
  }
  table.schema = known.encoded;
  table.schema_job_id = known.job_id;
  if (frame.schema) reading.rode_along[table.schema_hash] = known;
  checked.content = std::move(table);
  return checked;
}

template <typename Content>
CheckedFrame Parsed(std::uint64_t sequence, Result<Content> content, const char* code) {
  if (!content) return {sequence, sequence, Rejected(sequence, code, content.error().message)};
  return {sequence, sequence, std::move(*content)};
}

CheckedFrame CheckFrame(Frame frame, Reading& reading) {
  const std::uint64_t sequence = frame.head.sequence;
  if (reading.cost_left && !IsSmall(frame, reading)) {
    reading.not_now = true;
    return {sequence, sequence, {}};
  }
  if (!IsSaneTime(ToMicros(frame.head.created))) {
    return {sequence, sequence,
            Rejected(sequence, "clock", "the node's clock is outside the years 2000 to 2099")};
  }
  switch (frame.head.kind) {
    case FrameKind::kTicks:
    case FrameKind::kSteps:
    case FrameKind::kAnnotations:
    case FrameKind::kSpans:
      return CheckTableFrame(std::move(frame), reading);
    case FrameKind::kLifecycle:
      return Parsed(sequence, ParseLifecycle(frame.payload), "bad-lifecycle");
    case FrameKind::kLost: {
      CheckedFrame lost = Parsed(sequence, ParseLostRange(frame.payload, sequence), "bad-lost");
      if (const auto* range = std::get_if<LostRange>(&lost.content)) lost.last = range->last;
      return lost;
    }
    case FrameKind::kLogLines:
      break;
  }
  return {sequence, sequence,
          Rejected(sequence, "unknown-kind",
                   Format("{} are not taken by this service", ToText(frame.head.kind)))};
}

PushRefusal BadFrame(std::string detail) {
  return {400, "bad-frame", std::move(detail)};
}

// The first frame decides whose push it is.
std::optional<PushRefusal> CheckOwner(const FrameHead& head, CheckedPush& push) {
  const std::string session(reinterpret_cast<const char*>(head.session.data()),
                            head.session.size());
  push.clock_offset_us = std::clamp(head.clock_offset_us, -kLargestOffsetUs, kLargestOffsetUs);
  if (IsSuspectOffset(push.clock_offset_us)) push.suspect_offset_us = push.clock_offset_us;
  push.round_trip_us = std::clamp<std::int64_t>(head.round_trip_us, 0, kLargestOffsetUs);
  if (push.frames.empty()) {
    push.job = head.job;
    push.node = head.node;
    push.session = session;
    return std::nullopt;
  }
  if (push.job != head.job || push.node != head.node || push.session != session) {
    return BadFrame("frames of more than one session in one push");
  }
  if (head.sequence <= push.frames.back().last) return BadFrame("frames are not in order");
  return std::nullopt;
}

CheckOfPush Check(std::string_view body, Reading& reading) {
  const auto parts = SplitPush(body);
  if (!parts) return BadFrame(parts.error().message);
  if (parts->empty()) return BadFrame("no frames");
  CheckedPush push;
  for (const std::string_view bytes : *parts) {
    // Damaged bytes have no owner: the agent halves the push until the culprit stands alone.
    const Result<FrameHead> head = PeekHead(bytes);
    if (!head) return BadFrame(head.error().message);
    if (auto refusal = CheckOwner(*head, push)) return *refusal;
    Result<Frame> frame = DecodeFrame(bytes);
    if (frame) {
      push.frames.push_back(CheckFrame(std::move(*frame), reading));
    } else {
      const std::uint64_t sequence = head->sequence;
      push.frames.push_back(
          {sequence, sequence, Rejected(sequence, "bad-frame", frame.error().message)});
    }
    if (reading.refusal) return *reading.refusal;
    if (reading.not_now) break;
  }
  return push;
}

}  // namespace

PushRefusal UnknownSchema(std::uint64_t sequence) {
  return {409, "unknown-schema",
          Format("frame {}: its schema is not known here; send it along", sequence)};
}

CheckOfPush CheckPush(std::string_view body, const FindKnownSchema& find_schema) {
  Reading reading{find_schema, std::nullopt};
  return Check(body, reading);
}

std::optional<CheckedPush> CheckSmallPush(std::string_view body,
                                          const FindKnownSchema& find_schema) {
  if (body.size() > kSmallBytes) return std::nullopt;
  Reading reading{find_schema, kSmallCost};
  CheckOfPush checked = Check(body, reading);
  auto* const push = std::get_if<CheckedPush>(&checked);
  if (!push || reading.not_now) return std::nullopt;
  return std::move(*push);
}

}  // namespace stepscope
