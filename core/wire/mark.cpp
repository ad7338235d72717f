#include "core/wire/mark.h"

#include <algorithm>
#include <bit>
#include <limits>

#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::uint64_t kRingMagic = 0x474e495250455453;  // "STEPRING"
constexpr std::uint64_t kLongest = std::numeric_limits<std::uint32_t>::max();

}  // namespace

Result<RingHead> DecodeRingHead(const std::array<std::uint64_t, 3>& words) {
  if (words[kRingMagicWord] != kRingMagic) return Invalid("ring: wrong magic");
  const auto version = static_cast<std::uint32_t>(words[kRingVersionWord]);
  const auto slots = static_cast<std::uint32_t>(words[kRingVersionWord] >> 32);
  if (version != kRingVersion) {
    return Invalid(Format("ring: version {}, this agent reads version {}", version, kRingVersion));
  }
  if (slots < kLeastRingSlots || slots > kMostRingSlots || !std::has_single_bit(slots)) {
    return Invalid(Format("ring: {} slots, not a power of two from {} to {}", slots,
                          kLeastRingSlots, kMostRingSlots));
  }
  return RingHead{slots, Duration(static_cast<std::int64_t>(words[kRingClockWord]))};
}

MarkSlot EncodeMark(const Mark& mark) {
  auto length = static_cast<std::uint64_t>(std::max<std::int64_t>(mark.duration.count(), 0));
  std::uint64_t flags = 0;
  if (length > kLongest) {
    length /= 1000;
    flags |= kMarkMicros;
  }
  if (length > kLongest || mark.clamped) flags |= kMarkClamped;
  if (mark.after_loss) flags |= kMarkAfterLoss;
  const std::uint64_t kind = static_cast<std::uint16_t>(mark.kind);
  return {mark.start_ns, std::min(length, kLongest) | kind << 32 | std::uint64_t{mark.name} << 48,
          mark.value, (mark.step & kMarkStepMask) | flags};
}

Mark DecodeMark(const MarkSlot& slot) {
  Mark mark;
  const auto length = static_cast<std::int64_t>(slot[1] & kLongest);
  mark.kind = static_cast<MarkKind>((slot[1] >> 32) & 0xffff);
  mark.name = static_cast<std::uint16_t>(slot[1] >> 48);
  mark.start_ns = slot[0];
  mark.duration = Duration((slot[3] & kMarkMicros) != 0 ? length * 1000 : length);
  mark.value = slot[2];
  mark.step = slot[3] & kMarkStepMask;
  mark.clamped = (slot[3] & kMarkClamped) != 0;
  mark.after_loss = (slot[3] & kMarkAfterLoss) != 0;
  return mark;
}

}  // namespace stepscope
