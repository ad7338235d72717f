#include "agent/spool/frame_stream.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// A schema that is forgotten is sent again with the next frame that uses it.
constexpr std::size_t kMostSchemas = 256;

const Schema* Known(const std::deque<std::pair<std::uint64_t, Schema>>& schemas,
                    std::uint64_t hash) {
  const auto found = std::ranges::find(schemas, hash, &std::pair<std::uint64_t, Schema>::first);
  return found == schemas.end() ? nullptr : &found->second;
}

}  // namespace

FrameStream::FrameStream(const StreamOwner& owner, const SpoolLimits& limits, const Clock& clock,
                         SpoolFolder* folder, StreamCount* count)
    : clock_(clock), limits_(limits), member_(count), state_(State{.spool = Spool(limits)}) {
  head_.session = NewSession();
  head_.job = owner.job;
  head_.node = owner.node;
  if (folder == nullptr) return;
  log_ = std::make_unique<SessionLog>(*folder, SegmentHead{head_.session, ToMicros(clock.Now()),
                                                           owner.job, owner.node, owner.service});
}

FrameStream::FrameStream(FoundSession found, const SpoolLimits& limits, const Clock& clock)
    : clock_(clock),
      limits_(limits),
      member_(nullptr),
      found_(true),
      log_(std::move(found.log)),
      state_(State{.spool = Spool(limits, found.acknowledged, std::move(found.records)),
                   .away = true}) {
  head_.session = found.head.session;
  head_.job = found.head.job;
  head_.node = found.head.node;
  state_.Change([&](State& state) {
    for (FrameContent& part : found.parts) {
      const auto schema = found.schemas.find(part.schema_hash);
      if (schema != found.schemas.end()) part.schema = &schema->second;
      state.gathered.Add(std::move(part));
    }
    for (auto& [hash, schema] : found.schemas) state.schemas.emplace_back(hash, schema);
    // Frames that are on disk already keep their numbers.
    std::map<std::uint64_t, Schema> schemas;
    std::uint64_t number = found.parts_base;
    for (const FrameContent& content : state.gathered.Close(schemas)) {
      if (number++ >= state.spool.next()) Number(state, content);
    }
    number = state.spool.next();
    if (found.end_damaged) {
      state.spool.Append({.first = number, .last = number, .lost = "corrupt"});
    }
    state.closed_end = state.spool.next();
  });
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
    const SpoolLimits part = limits_.SharedBy(member_.streams());
    state.spool.Limit(part);
    const bool table = content.schema != nullptr;
    if (state.away && table) {
      if (state.gathered.bytes() > part.gathered_bytes) CloseGathered(state);
      return Gather(state, content);
    }
    CloseGathered(state);  // keeps the event's place in the order
    Number(state, content);
  });
}

void FrameStream::Number(State& state, const FrameContent& content) const {
  const std::uint64_t number = state.spool.next();
  SpoolRecord record{.first = number,
                     .last = number,
                     .from_us = content.from_us,
                     .to_us = content.to_us,
                     .samples = content.samples,
                     .bytes = EncodeContent(state, content),
                     .appended = clock_.Steady()};
  if (record.bytes.size() > kMaxFrameBytes) {
    LogWarning("a frame of {} bytes is larger than any service takes; it is lost",
               record.bytes.size());
    record.lost = "refused";
    record.bytes = {};
  }
  state.spool.Append(std::move(record));
}

void FrameStream::Gather(State& state, const FrameContent& content) const {
  if (state.gathered.empty()) {
    state.gathered_since = clock_.Steady();
    state.parts_base = state.spool.next();
    state.parts_off = false;
  }
  if (log_ && !state.parts_off) {
    Frame frame{HeadOf(state, content.kind, ++state.parts_count), std::nullopt, content.payload};
    frame.head.schema_hash = content.schema_hash;
    if (state.gathered.IsNew(content.schema_hash)) frame.schema = *content.schema;
    const std::string bytes = EncodeFrame(frame);
    state.parts.push_back(EncodeRecord({.kind = RecordKind::kPart,
                                        .number = state.parts_count,
                                        .from_us = content.from_us,
                                        .to_us = content.to_us,
                                        .samples = content.samples,
                                        .payload = bytes}));
  }
  state.gathered.Add(content);
}

void FrameStream::CloseGathered(State& state) const {
  if (state.gathered.empty()) return;
  std::map<std::uint64_t, Schema> schemas;
  for (const FrameContent& content : state.gathered.Close(schemas)) Number(state, content);
  state.closed_end = state.spool.next();
  state.parts_base = state.parts_count = 0;
  state.parts.clear();
}

std::string FrameStream::EncodeLost(const State& state, const SpoolRecord& record) const {
  std::string payload =
      Format(R"({{"first":{},"last":{},"reason":"{}","from_us":{},"to_us":{},"samples":{}}})",
             record.first, record.last, record.lost, record.from_us, record.to_us, record.samples);
  return EncodeFrame(
      {HeadOf(state, FrameKind::kLost, record.first), std::nullopt, std::move(payload)});
}

std::vector<SpoolRecord> FrameStream::NextRecords(std::size_t frames, std::size_t bytes) {
  return state_.Change([&](State& state) {
    // The service has all frames: it is back, or was never away.
    if (!state.spool.waits()) {
      CloseGathered(state);
      state.away = false;
    }
    std::vector<SpoolRecord> records;
    for (const SpoolRecord* record : state.spool.Read(frames, bytes)) {
      records.push_back(*record);
      if (!record->lost.empty()) records.back().bytes = EncodeLost(state, *record);
    }
    return records;
  });
}

Push FrameStream::NextPush(std::size_t frames, std::size_t bytes) {
  for (;;) {
    Push push;
    bool whole = true;
    for (SpoolRecord& record : NextRecords(frames, bytes)) {
      whole = !record.bytes.empty() || Load(record);
      if (!whole) break;
      AppendToPush(push.body, record.bytes);
      if (push.frames++ == 0) push.first = record.first;
      push.last = record.last;
    }
    // Else a frame has become a lost range, which can happen to each frame once.
    if (whole) return push;
  }
}

bool FrameStream::Waits() const {
  return state_.Read(
      [](const State& state) { return state.spool.waits() || !state.gathered.empty(); });
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
    std::map<std::uint64_t, Schema> schemas;
    state.given_up = true;
    state.gathered.Close(schemas);
    state.parts.clear();
    state.spool.Clear();
  });
}

void FrameStream::SetClockOffset(std::int64_t offset_us, std::int64_t round_trip_us) {
  state_.Change([&](State& state) {
    state.clock_offset_us = offset_us;
    state.round_trip_us = round_trip_us;
  });
}

Duration FrameStream::UntilStore() const {
  return state_.Read([&](const State& state) -> Duration {
    if (state.away) return 0ns;
    if (!state.spool.waits()) return kAwayAfter;
    return std::max<Duration>(state.spool.waits_since() + kAwayAfter - clock_.Steady(), 0ns);
  });
}

bool FrameStream::away() const {
  return state_.Read([](const State& state) { return state.away; });
}

std::uint64_t FrameStream::acknowledged() const {
  return state_.Read([](const State& state) { return state.spool.acknowledged(); });
}

SpoolFigures FrameStream::figures() const {
  return state_.Read([](const State& state) {
    SpoolFigures figures = state.spool.figures();
    figures.frames_waiting += state.gathered.frames();
    figures.to_us = std::max(figures.to_us, state.gathered.to_us());
    return figures;
  });
}

}  // namespace stepscope
