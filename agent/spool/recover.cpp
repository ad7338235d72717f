#include "agent/spool/recover.h"

#include <algorithm>
#include <iterator>

#include "core/base/log.h"
#include "core/base/text.h"
#include "core/wire/bytes.h"
#include "core/wire/crc32c.h"

namespace stepscope {
namespace {

constexpr std::size_t kSlotBytes = 12;
// Frames that are made of parts are smaller than this; memory holds several times as much.
constexpr std::size_t kMostUnsure = 2 * 1024 * 1024;
constexpr std::size_t kLargestFile = 4 * kSegmentBytes;
// No session has so many numbers: a larger one is damage.
constexpr std::uint64_t kLargestNumber = std::uint64_t{1} << 53;

struct Reading {
  FoundSession found;
  std::map<std::uint64_t, SpoolRecord> frames;  // by number
  std::map<std::uint64_t, SpoolRecord> lost;    // by first number; the widest range of each
  std::map<std::uint64_t, FrameContent> parts;  // by their own numbers
  bool has_head = false;
  bool segment_damaged = false, parts_damaged = false;  // whether the newest one is damaged
  std::uint32_t last_segment = 0;
};

std::string_view ReasonOf(std::string_view text) {
  for (const std::string_view known : {"corrupt", "refused"}) {
    if (text == known) return known;
  }
  return "dropped";
}

void TakeHead(Reading& reading, const SegmentRecord& record) {
  auto head = DecodeHead(record.payload);
  if (!head) return;
  reading.found.head = std::move(*head);
  reading.has_head = true;
}

// A frame's head names the session too, where the heads of segments are damaged.
void TakeHead(Reading& reading, const FrameHead& head) {
  if (reading.has_head) return;
  reading.found.head.session = head.session;
  reading.found.head.job = head.job;
  reading.found.head.node = head.node;
  reading.found.head.created_us = ToMicros(head.created);
  reading.has_head = true;
}

void TakeFrame(Reading& reading, const SegmentRecord& record, std::uint32_t segment) {
  auto frame = DecodeFrame(record.payload);
  if (!frame || frame->head.sequence != record.number) return;
  TakeHead(reading, frame->head);
  if (frame->schema) reading.found.schemas[frame->head.schema_hash] = std::move(*frame->schema);
  reading.frames[record.number] = {.first = record.number,
                                   .last = record.number,
                                   .from_us = record.from_us,
                                   .to_us = record.to_us,
                                   .samples = record.samples,
                                   .place = {segment, static_cast<std::uint32_t>(record.offset),
                                             static_cast<std::uint32_t>(record.payload.size())}};
}

void TakeLost(Reading& reading, const SegmentRecord& record) {
  ByteReader payload(record.payload);
  const auto last = payload.Take<std::uint64_t>();
  if (!payload.ok() || record.number == 0 || last < record.number || last > kLargestNumber) return;
  SpoolRecord& lost = reading.lost[record.number];
  if (lost.last >= last) return;
  lost = {.first = record.number,
          .last = last,
          .lost = ReasonOf(payload.rest()),
          .from_us = record.from_us,
          .to_us = record.to_us,
          .samples = record.samples};
}

void TakePart(Reading& reading, const SegmentRecord& record) {
  auto frame = DecodeFrame(record.payload);
  if (!frame) return;
  TakeHead(reading, frame->head);
  const std::uint64_t hash = frame->head.schema_hash;
  if (frame->schema) reading.found.schemas[hash] = std::move(*frame->schema);
  FrameContent& part = reading.parts[record.number];
  part.kind = frame->head.kind;
  part.payload = std::move(frame->payload);
  part.schema_hash = hash;
  part.from_us = record.from_us;
  part.to_us = record.to_us;
  part.samples = record.samples;
}

void ReadSegment(Reading& reading, std::string_view bytes, std::uint32_t segment) {
  reading.segment_damaged = ScanSegment(bytes, [&](const SegmentRecord& record) {
    if (record.kind == RecordKind::kHead) TakeHead(reading, record);
    if (record.kind == RecordKind::kFrame) TakeFrame(reading, record, segment);
    if (record.kind == RecordKind::kLost) TakeLost(reading, record);
  });
  reading.last_segment = std::max(reading.last_segment, segment);
}

void ReadParts(Reading& reading, std::string_view bytes) {
  const bool end_damaged = ScanSegment(bytes, [&](const SegmentRecord& record) {
    if (record.kind == RecordKind::kHead) {
      TakeHead(reading, record);
      reading.found.parts_base = record.number;
    }
    if (record.kind == RecordKind::kPart) TakePart(reading, record);
  });
  const std::uint64_t last = reading.parts.empty() ? 0 : reading.parts.rbegin()->first;
  const bool holes = last != reading.parts.size() || reading.found.parts_base == 0;
  reading.parts_damaged = end_damaged || holes;
}

std::uint64_t ReadAcknowledged(std::string_view bytes) {
  std::uint64_t newest = 0;
  for (; bytes.size() >= kSlotBytes; bytes.remove_prefix(kSlotBytes)) {
    ByteReader reader(bytes);
    const auto number = reader.Take<std::uint64_t>();
    const bool whole = reader.Take<std::uint32_t>() == Crc32c(bytes.substr(0, sizeof number));
    if (whole && number <= kLargestNumber) newest = std::max(newest, number);
  }
  return newest;
}

void AddRange(std::vector<SpoolRecord>& records, std::uint64_t first, std::uint64_t last,
              const Reading& reading) {
  SpoolRecord range{.first = first, .last = last, .lost = "corrupt"};
  // Prefers the reason that the agent recorded.
  for (const auto& [number, lost] : reading.lost) {
    if (number > last || lost.last < first) continue;
    range.lost = lost.lost;
    range.from_us = lost.from_us;
    range.to_us = lost.to_us;
    range.samples = lost.samples;
  }
  records.push_back(range);
}

// Orders frames and lost ranges from the first that is not acknowledged on.
void Arrange(Reading& reading) {
  FoundSession& found = reading.found;
  std::erase_if(reading.frames, [&](const auto& each) { return each.first <= found.acknowledged; });
  std::uint64_t next = found.acknowledged + 1;
  // The fate of the numbers before the first frame is unknown: the service asks for them if it
  // wants them.
  if (found.acknowledged == 0 && !reading.frames.empty()) {
    next = reading.frames.begin()->first;
    for (const auto& [first, lost] : reading.lost) {
      if (first < next && lost.last + 1 >= next) next = first;
    }
    found.acknowledged = next - 1;
  }
  for (auto& [number, record] : reading.frames) {
    if (number > next) AddRange(found.records, next, number - 1, reading);
    next = number + 1;
    found.records.push_back(std::move(record));
  }
  const bool gathered = !reading.parts.empty();
  std::uint64_t end = gathered ? found.parts_base : next;
  for (const auto& [first, lost] : reading.lost) end = std::max(end, lost.last + 1);
  if (end > next) AddRange(found.records, next, end - 1, reading);
  found.end_damaged = reading.parts_damaged || reading.segment_damaged;
  for (auto& [number, part] : reading.parts) found.parts.push_back(std::move(part));
}

// A frame that was made of parts may not survive a power failure, though it can be read now: its
// agent may not have synced it. It is treated as not on disk, so that it is written once more
// before the parts are removed.
Status TakeUnsure(SpoolFolder& folder, const std::string& name, FoundSession& found) {
  const std::uint64_t end = found.parts_base + found.parts.size();
  std::size_t size = 0;
  for (SpoolRecord& record : found.records) {
    const SpoolPlace place = record.place;
    if (record.first < found.parts_base || record.first >= end || place.segment == 0) continue;
    if ((size += place.bytes) > kMostUnsure) break;
    auto bytes =
        folder.files().Read(name + "/" + SegmentName(place.segment), place.offset, place.bytes);
    if (!bytes && bytes.error().code == Code::kNotFound) continue;
    if (!bytes) return Internal("spool: left for later: " + bytes.error().message);
    if (bytes->size() != place.bytes) continue;
    record.bytes = std::move(*bytes);
    record.place = {};
  }
  return {};
}

}  // namespace

Result<FoundSession> RecoverSession(SpoolFolder& folder, const std::string& name) {
  auto lock = folder.files().Lock(name);
  if (!lock) return lock.error();
  const auto entries = folder.files().List(name);
  if (!entries) return entries.error();
  Reading reading;
  for (const FileEntry& entry : *entries) {
    const std::uint32_t segment = SegmentOf(entry.name);
    const bool known = segment != 0 || entry.name == kPartsName || entry.name == kAckedName;
    if (!known) continue;
    const auto bytes = folder.files().Read(name + "/" + entry.name, 0, kLargestFile);
    reading.last_segment = std::max(reading.last_segment, segment);
    if (!bytes && bytes.error().code == Code::kNotFound) continue;  // removed to make room
    // The segment may be readable later, and its numbers are unknown.
    if (!bytes) return Internal("spool: left for later: " + bytes.error().message);
    if (segment != 0) ReadSegment(reading, *bytes, segment);
    if (entry.name == kPartsName) ReadParts(reading, *bytes);
    if (entry.name == kAckedName) reading.found.acknowledged = ReadAcknowledged(*bytes);
  }
  if (!reading.has_head || SessionName(reading.found.head.session) != name) {
    if (!entries->empty()) LogWarning("spool: nothing can be made of session {}", name);
    folder.Discard(name);
    return NotFound(Format("spool: session {} is empty", name));
  }
  if (reading.found.parts_base == 0) reading.parts.clear();
  const std::uint64_t parts_base = reading.found.parts_base;
  Arrange(reading);
  if (Status taken = TakeUnsure(folder, name, reading.found); !taken) return taken.error();
  reading.found.log = std::make_unique<SessionLog>(folder, reading.found.head, std::move(*lock),
                                                   reading.last_segment, parts_base);
  return std::move(reading.found);
}

std::vector<FoundSession> RecoverSessions(SpoolFolder& folder) {
  std::vector<FoundSession> sessions;
  for (const std::string& name : folder.Sessions()) {
    auto found = RecoverSession(folder, name);
    if (found) {
      sessions.push_back(std::move(*found));
    } else if (found.error().code == Code::kInternal) {
      LogWarning("{}", found.error().message);
    }
  }
  std::ranges::stable_sort(sessions, {},
                           [](const FoundSession& found) { return found.head.created_us; });
  return sessions;
}

}  // namespace stepscope
