#include "agent/spool/segment.h"

#include <algorithm>

#include "core/wire/bytes.h"
#include "core/wire/crc32c.h"

namespace stepscope {
namespace {

constexpr std::string_view kMagic = "STEPSPOOL1";
constexpr std::size_t kLongestText = 4096;
constexpr std::size_t kCrcOffset = 4, kCheckedOffset = 8;

bool IsKind(std::uint8_t kind) {
  return kind >= static_cast<std::uint8_t>(RecordKind::kHead) &&
         kind <= static_cast<std::uint8_t>(RecordKind::kPart);
}

// The record at `offset`, if it is complete and intact. `work` bounds the bytes of failed
// checksums, so that no input can take for ever.
std::optional<SegmentRecord> RecordAt(std::string_view bytes, std::size_t offset,
                                      std::size_t& work) {
  ByteReader reader(bytes.substr(offset));
  const auto size = reader.Take<std::uint32_t>();
  const auto crc = reader.Take<std::uint32_t>();
  const auto kind = reader.Take<std::uint8_t>();
  if (!reader.ok() || !IsKind(kind)) return std::nullopt;
  SegmentRecord record;
  record.kind = static_cast<RecordKind>(kind);
  record.number = reader.Take<std::uint64_t>();
  record.from_us = reader.Take<std::int64_t>();
  record.to_us = reader.Take<std::int64_t>();
  record.samples = reader.Take<std::uint64_t>();
  record.payload = reader.TakeBytes(size);
  record.offset = offset + kRecordHeaderBytes;
  if (!reader.ok() || size > work) return std::nullopt;
  const std::string_view checked =
      bytes.substr(offset + kCheckedOffset, kRecordHeaderBytes - kCheckedOffset + size);
  if (Crc32c(checked) == crc) return record;
  work -= size;
  return std::nullopt;
}

std::size_t End(const SegmentRecord& record) {
  return record.offset + record.payload.size();
}

// The bound of failed checksums for so many bytes of input.
std::size_t WorkFor(std::size_t bytes) {
  return 16 * bytes;
}

// Where the damaged record at `offset` ends: at its length, when a good record begins there.
// Records that seem to be in its payload then count only if they end there, too: crafted bytes of a
// training cannot swallow the record behind it.
std::size_t EndOfDamage(std::string_view bytes, std::size_t offset, std::size_t& work) {
  ByteReader reader(bytes.substr(offset));
  const std::size_t end = offset + kRecordHeaderBytes + reader.Take<std::uint32_t>();
  return reader.ok() && end < bytes.size() && RecordAt(bytes, end, work) ? end : bytes.size();
}

}  // namespace

std::string EncodeRecord(const SegmentRecord& record) {
  std::string bytes;
  bytes.reserve(kRecordHeaderBytes + record.payload.size());
  Put(bytes, static_cast<std::uint32_t>(record.payload.size()));
  Put<std::uint32_t>(bytes, 0);
  Put(bytes, static_cast<std::uint8_t>(record.kind));
  Put(bytes, record.number);
  Put(bytes, record.from_us);
  Put(bytes, record.to_us);
  Put(bytes, record.samples);
  bytes += record.payload;
  std::string crc;
  Put(crc, Crc32c(std::string_view(bytes).substr(kCheckedOffset)));
  std::ranges::copy(crc, bytes.begin() + kCrcOffset);
  return bytes;
}

std::string EncodeHeadRecord(const SegmentHead& head, std::uint64_t number) {
  std::string payload(kMagic);
  payload.append(reinterpret_cast<const char*>(head.session.data()), head.session.size());
  Put(payload, head.created_us);
  PutText(payload, head.job);
  PutText(payload, head.node);
  PutText(payload, head.service);
  return EncodeRecord({.kind = RecordKind::kHead, .number = number, .payload = payload});
}

std::string EncodeLostRange(std::uint64_t last, std::string_view reason) {
  std::string payload;
  Put(payload, last);
  return payload.append(reason);
}

std::optional<SegmentHead> DecodeHead(std::string_view payload) {
  ByteReader reader(payload);
  if (reader.TakeBytes(kMagic.size()) != kMagic) return std::nullopt;
  SegmentHead head;
  std::ranges::copy(reader.TakeBytes(head.session.size()), head.session.begin());
  head.created_us = reader.Take<std::int64_t>();
  head.job = reader.TakeText(kLongestText);
  head.node = reader.TakeText(kLongestText);
  head.service = reader.TakeText(kLongestText);
  if (!reader.ok()) return std::nullopt;
  return head;
}

bool ScanSegment(std::string_view bytes, const std::function<void(const SegmentRecord&)>& take) {
  std::size_t work = WorkFor(bytes.size()), work_inside = 0;
  std::size_t offset = 0, good_end = 0, limit = bytes.size();  // limit: end of the present search
  while (offset < bytes.size()) {
    if (offset == limit) limit = bytes.size();
    const bool inside = limit < bytes.size();
    const auto record = RecordAt(bytes.substr(0, limit), offset, inside ? work_inside : work);
    if (record) {
      take(*record);
      offset = good_end = End(*record);
      continue;
    }
    if (!inside && offset == good_end) limit = EndOfDamage(bytes, offset, work);
    if (!inside) work_inside = WorkFor(limit - offset);
    ++offset;
  }
  return good_end != bytes.size();
}

}  // namespace stepscope
