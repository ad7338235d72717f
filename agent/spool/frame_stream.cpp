#include "agent/spool/frame_stream.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// Forgotten ones ride along again when they are used again.
constexpr std::size_t kMostSchemas = 256;

const Schema* Known(const std::deque<std::pair<std::uint64_t, Schema>>& schemas,
                    std::uint64_t hash) {
  const auto found = std::ranges::find(schemas, hash, &std::pair<std::uint64_t, Schema>::first);
  return found == schemas.end() ? nullptr : &found->second;
}

}  // namespace

FrameStream::FrameStream(std::string job, std::string node, const SpoolLimits& limits,
                         const Clock& clock)
    : clock_(clock), state_(State{.spool = Spool(limits), .schemas = {}}) {
  head_.session = NewSession();
  head_.job = std::move(job);
  head_.node = std::move(node);
}

FrameHead FrameStream::HeadOf(const State& state, FrameKind kind, std::uint64_t sequence) const {
  FrameHead head = head_;
  head.kind = kind;
  head.sequence = sequence;
  head.created = clock_.Now();
  head.clock_offset_us = state.clock_offset_us;
  head.round_trip_us = state.round_trip_us;
  return head;
}

std::string FrameStream::EncodeContent(State& state, const FrameContent& content) const {
  Frame frame{HeadOf(state, content.kind, state.spool.next()), std::nullopt, content.payload};
  frame.head.schema_hash = content.schema_hash;
  if (content.schema == nullptr || Known(state.schemas, content.schema_hash) != nullptr) {
    return EncodeFrame(frame);
  }
  state.schemas.emplace_back(content.schema_hash, *content.schema);
  if (state.schemas.size() > kMostSchemas) state.schemas.pop_front();
  frame.schema = *content.schema;
  return EncodeFrame(frame);
}

void FrameStream::Append(const FrameContent& content) {
  state_.Change([&](State& state) {
    if (state.given_up) return;
    const std::uint64_t number = state.spool.next();
    SpoolRecord record{.first = number,
                       .last = number,
                       .from_us = content.from_us,
                       .to_us = content.to_us,
                       .samples = content.samples,
                       .bytes = EncodeContent(state, content)};
    if (record.bytes.size() > kMaxFrameBytes) {
      LogWarning("a frame of {} bytes is larger than any service takes; it is lost",
                 record.bytes.size());
      record.lost = "refused";
      record.bytes = {};
    }
    state.spool.Append(std::move(record));
  });
}

std::string FrameStream::EncodeLost(const State& state, const SpoolRecord& record) const {
  std::string payload =
      Format(R"({{"first":{},"last":{},"reason":"{}","from_us":{},"to_us":{},"samples":{}}})",
             record.first, record.last, record.lost, record.from_us, record.to_us, record.samples);
  return EncodeFrame(
      {HeadOf(state, FrameKind::kLost, record.first), std::nullopt, std::move(payload)});
}

Push FrameStream::NextPush(std::size_t frames, std::size_t bytes) const {
  return state_.Read([&](const State& state) {
    Push push;
    for (const SpoolRecord* record : state.spool.Read(frames, bytes)) {
      AppendToPush(push.body, record->lost.empty() ? record->bytes : EncodeLost(state, *record));
      if (push.frames++ == 0) push.first = record->first;
      push.last = record->last;
    }
    return push;
  });
}

void FrameStream::Acknowledge(std::uint64_t number) {
  state_.Change([&](State& state) { state.spool.Acknowledge(number, clock_.Steady()); });
}

bool FrameStream::Rewind(std::uint64_t number) {
  return state_.Change([&](State& state) { return state.spool.Rewind(number); });
}

bool FrameStream::Refuse(std::uint64_t number) {
  return state_.Change([&](State& state) { return state.spool.Refuse(number); });
}

void FrameStream::GiveUp() {
  state_.Change([](State& state) {
    state.given_up = true;
    state.spool.Clear();
  });
}

void FrameStream::AttachSchemas(std::uint64_t last) {
  state_.Change([&](State& state) {
    std::vector<std::pair<std::uint64_t, std::string>> changed;
    for (const SpoolRecord* record : state.spool.Read(kMaxFramesPerPush, kMaxPushBytes)) {
      if (record->first > last || !record->lost.empty()) continue;
      auto frame = DecodeFrame(record->bytes);
      if (!frame || frame->head.schema_hash == 0 || frame->schema) continue;
      const Schema* schema = Known(state.schemas, frame->head.schema_hash);
      if (schema == nullptr) continue;
      frame->schema = *schema;
      std::string bytes = EncodeFrame(*frame);
      if (bytes.size() <= kMaxFrameBytes) changed.emplace_back(record->first, std::move(bytes));
    }
    for (auto& [number, bytes] : changed) state.spool.Replace(number, std::move(bytes));
  });
}

void FrameStream::SetClockOffset(std::int64_t offset_us, std::int64_t round_trip_us) {
  state_.Change([&](State& state) {
    state.clock_offset_us = offset_us;
    state.round_trip_us = round_trip_us;
  });
}

std::uint64_t FrameStream::acknowledged() const {
  return state_.Read([](const State& state) { return state.spool.acknowledged(); });
}

SpoolFigures FrameStream::figures() const {
  return state_.Read([](const State& state) { return state.spool.figures(); });
}

}  // namespace stepscope
