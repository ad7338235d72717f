#include "server/ingest/check/received_push.h"

#include <algorithm>

#include "core/base/text.h"
#include "core/wire/table_codec.h"
#include "server/store/jobs/clock_suspects.h"

namespace stepscope {
namespace {

constexpr std::int64_t kLargestOffsetUs = 3'200'000'000'000'000;  // 100 years

// A small push takes some 100 us to check. A column costs as much as eight of its values: four
// ticks of 208 series count 2,500 and take 23 us.
constexpr std::size_t kSmallBytes = 16 * 1024, kSmallCost = 10'000, kColumnCost = 8;

// The cost by the size that a table says it has; 0 for one that is refused before it is read.
std::size_t CostOf(std::string_view payload) {
  constexpr TableLimits kMost;
  const Result<TableSize> size = ReadTableSize(payload);
  if (!size || size->rows > kMost.rows || size->columns > kMost.columns) return 0;
  return size->columns * (size->rows + kColumnCost);
}

// Samples, steps and annotations whose schema is in memory. Other frames are rare, and may wait for
// a worker.
bool IsSmall(const Frame& frame, const KnownSchema& known, std::size_t& cost_left) {
  const FrameKind kind = frame.head.kind;
  const bool usual =
      kind == FrameKind::kTicks || kind == FrameKind::kSteps || kind == FrameKind::kAnnotations;
  const std::size_t cost = CostOf(frame.payload);
  if (!usual || !known.schema || cost > cost_left) return false;
  cost_left -= cost;
  return true;
}

std::string_view SessionOf(const FrameHead& head) {
  return {reinterpret_cast<const char*>(head.session.data()), head.session.size()};
}

// The first frame decides whose push it is.
std::optional<PushRefusal> CheckOwner(const FrameHead& head, ReceivedPush& received) {
  CheckedPush& push = received.push;
  push.clock_offset_us = std::clamp(head.clock_offset_us, -kLargestOffsetUs, kLargestOffsetUs);
  if (IsSuspectOffset(push.clock_offset_us)) push.suspect_offset_us = push.clock_offset_us;
  push.round_trip_us = std::clamp<std::int64_t>(head.round_trip_us, 0, kLargestOffsetUs);
  if (received.parts.empty()) {
    push.job = head.job;
    push.node = head.node;
    push.session = SessionOf(head);
    received.opens = head.kind == FrameKind::kLifecycle;
    return std::nullopt;
  }
  if (push.job == head.job && push.node == head.node && push.session == SessionOf(head)) {
    return std::nullopt;
  }
  return BadFrame("frames of more than one session in one push");
}

// A damaged frame has no owner: the push is refused, and the agent halves it until the culprit
// stands alone.
ReceivedPush::Part Receive(std::string_view bytes, ReceivedPush& received) {
  Result<Frame> frame = DecodeFrame(bytes);
  if (frame) {
    received.refusal = CheckOwner(frame->head, received);
    return {frame->head.sequence, std::move(*frame)};
  }
  const Result<FrameHead> head = PeekHead(bytes);
  if (!head) {
    received.refusal = BadFrame(head.error().message);
    return {};
  }
  received.refusal = CheckOwner(*head, received);
  return {head->sequence, Rejected(head->sequence, "bad-frame", frame.error().message)};
}

}  // namespace

PushRefusal BadFrame(std::string detail) {
  return {400, "bad-frame", std::move(detail)};
}

RejectedFrame Rejected(std::uint64_t sequence, std::string code, std::string_view detail) {
  return {sequence, std::move(code), Printable(detail, 500)};
}

std::optional<ReceivedPush> ReceivePush(std::string_view body, const RecallSchema& recall,
                                        MayWait may_wait) {
  std::size_t cost_left = kSmallCost;
  if (may_wait == MayWait::kNo && body.size() > kSmallBytes) return std::nullopt;
  ReceivedPush received;
  received.bytes = body.size();
  const auto frames = SplitPush(body);
  if (!frames) received.refusal = BadFrame(frames.error().message);
  for (std::size_t at = 0; !received.refusal && at < frames->size(); ++at) {
    ReceivedPush::Part part = Receive((*frames)[at], received);
    if (received.refusal) break;
    if (const auto* frame = std::get_if<Frame>(&part.frame)) {
      if (!frame->schema && frame->head.schema_hash != 0) part.schema = recall(frame->head);
      if (may_wait == MayWait::kNo && !IsSmall(*frame, part.schema, cost_left)) return std::nullopt;
    }
    received.parts.push_back(std::move(part));
  }
  return received;
}

}  // namespace stepscope
