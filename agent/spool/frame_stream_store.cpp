// The functions of FrameStream that use the disk.

#include <algorithm>
#include <utility>

#include "agent/spool/frame_stream.h"
#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// The frame's bytes with its schema; unchanged when they would be too large.
std::string WithSchema(const std::string& bytes, const Schema& schema) {
  auto frame = DecodeFrame(bytes);
  if (!frame || frame->schema) return bytes;
  frame->schema = schema;
  std::string larger = EncodeFrame(*frame);
  return larger.size() <= kMaxFrameBytes ? larger : bytes;
}

const Schema* Find(const std::deque<std::pair<std::uint64_t, Schema>>& schemas,
                   std::uint64_t hash) {
  const auto found = std::ranges::find(schemas, hash, &std::pair<std::uint64_t, Schema>::first);
  return found == schemas.end() ? nullptr : &found->second;
}

}  // namespace

// Reads the frame's bytes; false when they are damaged or gone, and the frame has become a lost
// range.
bool FrameStream::Load(SpoolRecord& record) {
  auto bytes = log_->Read(record.place);
  if (bytes) {
    const auto head = PeekHead(*bytes);
    if (head && head->sequence == record.first) {
      record.bytes = std::move(*bytes);
      return true;
    }
  }
  LogWarning("spool: frame {} of job {} is lost: {}", record.first, head_.job,
             bytes ? "damaged" : bytes.error().message);
  const bool removed = !bytes && bytes.error().code == Code::kNotFound;
  const std::uint32_t first = removed ? log_->FirstSegment() : 0;
  state_.Change([&](State& state) {
    if (removed) state.spool.LoseBefore(first);
    // A segment may also be missing between others.
    state.spool.Lose(record.first, removed ? "dropped" : "corrupt");
  });
  return false;
}

std::string FrameStream::KeepRefused(std::uint64_t number) {
  if (!log_) return "";
  const auto record = state_.Read([&](const State& state) {
    const SpoolRecord* waiting = state.spool.Waiting(number);
    return waiting == nullptr ? std::nullopt : std::optional(*waiting);
  });
  if (!record) return "";
  auto bytes = record->bytes.empty() ? log_->Read(record->place) : record->bytes;
  if (!bytes) return "";
  const auto head = PeekHead(*bytes);
  state_.Read([&](const State& state) {
    const Schema* schema = head ? Find(state.schemas, head->schema_hash) : nullptr;
    if (schema != nullptr) bytes = WithSchema(*bytes, *schema);
  });
  const auto kept = log_->KeepRefused(number, *bytes);
  if (!kept) LogWarning("the spool takes no copy of it: {}", kept.error().message);
  return kept ? *kept : "";
}

void FrameStream::AttachSchemas(std::uint64_t last) {
  // Frames that are only on disk are read back for the push.
  std::vector<SpoolRecord> records = NextRecords(kMaxFramesPerPush, kMaxPushBytes);
  for (SpoolRecord& record : records) {
    if (record.first > last || !record.lost.empty()) continue;
    if (record.bytes.empty() && !Load(record)) continue;
    const auto head = PeekHead(record.bytes);
    if (!head || head->schema_hash == 0) continue;
    state_.Change([&](State& state) {
      const Schema* schema = Find(state.schemas, head->schema_hash);
      if (schema == nullptr) return;
      std::string bytes = WithSchema(record.bytes, *schema);
      if (bytes != record.bytes) state.spool.Replace(record.first, std::move(bytes));
    });
  }
}

bool FrameStream::HandOver() {
  const bool stored = StoreNow(true);
  return log_ ? stored : !Waits();
}

bool FrameStream::StoreNow(bool handing_over) {
  Storing plan = state_.Change([&](State& state) { return Plan(state, handing_over); });
  if (!log_) return false;
  const Status stored = StoreAll(plan);
  LogStorage(stored);
  return stored.ok() && plan.whole;
}

FrameStream::Storing FrameStream::Plan(State& state, bool handing_over) const {
  const SteadyTime now = clock_.Steady();
  Spool& spool = state.spool;
  if (spool.waits() && now - spool.waits_since() >= kAwayAfter) state.away = true;
  if (handing_over || now - state.gathered_since >= kGatherFor) CloseGathered(state);
  Storing plan;
  const bool done = !spool.waits() && state.gathered.empty();
  plan.over = state.given_up || (done && (handing_over || found_));
  plan.acknowledged = spool.acknowledged();
  plan.parts_base = state.parts_base;
  plan.parts = std::exchange(state.parts, {});
  if (!log_) return plan;
  const auto unstored = spool.Unstored();
  plan.gathered_is_safe = unstored.empty() || unstored.front()->first >= state.closed_end;
  const bool gap = state.parts_off && !state.gathered.empty();
  plan.whole = done || ((state.away || handing_over) && !gap);
  if (!state.away && !handing_over) return plan;
  for (const SpoolRecord* record : unstored) plan.frames.push_back(*record);
  return plan;
}

Status FrameStream::StoreAll(Storing& plan) {
  if (plan.over) {
    log_->Discard();
    return {};
  }
  log_->HintAcknowledged(plan.acknowledged);
  const Status frames = StoreFrames(plan);
  plan.gathered_is_safe |= frames.ok() && !plan.frames.empty();
  const Status parts = StoreParts(plan);
  if (!frames || !log_->exists()) return frames;
  // Removes segments last: a range that is lost with a damaged segment must be on disk first.
  const auto needed = state_.Read([](const State& state) { return state.spool.FirstSegment(); });
  log_->RemoveBefore(needed != 0 ? needed : log_->next_segment());
  return parts;
}

Status FrameStream::StoreFrames(const Storing& plan) {
  std::vector<SpoolPlace> places;
  const std::uint32_t segment = log_->next_segment();
  Status stored;
  for (const SpoolRecord& record : plan.frames) {
    stored = log_->Begin(record.first, record.bytes.size());
    if (!stored) break;
    const std::string payload = PayloadOf(record);
    const auto place =
        log_->Append({.kind = record.lost.empty() ? RecordKind::kFrame : RecordKind::kLost,
                      .number = record.first,
                      .from_us = record.from_us,
                      .to_us = record.to_us,
                      .samples = record.samples,
                      .payload = payload});
    if (!place) stored = place.error();
    if (!place) break;
    places.push_back(*place);
  }
  if (plan.frames.empty()) return {};
  if (Status synced = log_->Sync(); !synced) return synced;
  state_.Change([&](State& state) {
    for (std::size_t i = 0; i < places.size(); ++i) state.spool.Stored(plan.frames[i], places[i]);
  });
  if (log_->next_segment() != segment) LoseRemoved();
  return stored;
}

// The schema is put into a segment's first frame that uses it, so that a segment can be read
// without the ones before it.
std::string FrameStream::PayloadOf(const SpoolRecord& record) {
  if (!record.lost.empty()) return EncodeLostRange(record.last, record.lost);
  const auto head = PeekHead(record.bytes);
  if (!head || head->schema_hash == 0 || !log_->AddSchema(head->schema_hash)) return record.bytes;
  return state_.Read([&](const State& state) {
    const Schema* schema = Find(state.schemas, head->schema_hash);
    return schema == nullptr ? record.bytes : WithSchema(record.bytes, *schema);
  });
}

// Loses the frames of our segments that were removed to make room.
void FrameStream::LoseRemoved() {
  const std::uint32_t first = log_->FirstSegment();
  state_.Change([&](State& state) { state.spool.LoseBefore(first); });
}

Status FrameStream::StoreParts(Storing& plan) {
  const bool others = log_->parts_base() != 0 && log_->parts_base() != plan.parts_base;
  Status stored;
  if (others && plan.gathered_is_safe) stored = log_->ClearParts();
  const bool blocked = others && (!plan.gathered_is_safe || !stored);
  if (!blocked) stored = log_->AppendParts(plan.parts_base, plan.parts);
  if (stored && !(blocked && !plan.parts.empty())) return stored;
  plan.whole = false;
  state_.Change([&](State& state) {
    if (state.parts_base == plan.parts_base) state.parts_off = plan.parts_base != 0;
  });
  return stored;
}

void FrameStream::LogStorage(const Status& stored) {
  if (std::exchange(storing_, stored.ok()) == stored.ok()) return;
  if (stored) {
    LogInfo("the spool takes samples again");
  } else {
    LogWarning("the spool cannot be written ({}); samples wait in memory", stored.error().message);
  }
}

}  // namespace stepscope
