#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "core/base/result.h"
#include "core/base/time.h"

namespace stepscope {

// The ring through which one thread of a training process hands its marks to the agent: a memfd of
// a header page and slots, sealed against shrinking. One writer, one reader, positions that only
// grow and are taken modulo the slot count. All integers little-endian, times CLOCK_MONOTONIC.
//
//   offset  type   header
//        0  u8[8]  magic "STEPRING"
//        8  u32    version
//       12  u32    slot count, a power of two
//       16  i64    clock base: wall clock minus CLOCK_MONOTONIC, ns
//       64  u64    write position; set by the writer after the slot's bytes
//       72  u64    marks dropped because the ring was full
//      128  u64    read position; set by the agent
//      136  u64    control word, 0 at first; when the agent changes it the process listens at the
//                  end of its step, not within a second as always
//     4096         slots
inline constexpr std::size_t kRingHeaderBytes = 4096;
inline constexpr std::size_t kRingSlotBytes = 32;
inline constexpr std::uint32_t kRingVersion = 1;
inline constexpr std::uint32_t kLeastRingSlots = 64;
inline constexpr std::uint32_t kMostRingSlots = 65'536;

// Indexes of the header's words, counted in u64.
inline constexpr std::size_t kRingMagicWord = 0;
inline constexpr std::size_t kRingVersionWord = 1;  // version, and slot count in the upper half
inline constexpr std::size_t kRingClockWord = 2;
inline constexpr std::size_t kRingWriteWord = 8;
inline constexpr std::size_t kRingDroppedWord = 9;
inline constexpr std::size_t kRingReadWord = 16;
inline constexpr std::size_t kRingControlWord = 17;

struct RingHead {
  std::uint32_t slots = 0;
  Duration clock_base{};
};

// Invalid for anything but a ring of this version; the error names the word that is wrong. Does not
// check the read and write positions, which change meanwhile.
Result<RingHead> DecodeRingHead(const std::array<std::uint64_t, 3>& words);

// The size of a ring with this many slots.
constexpr std::size_t RingBytes(std::uint32_t slots) {
  return kRingHeaderBytes + std::size_t{slots} * kRingSlotBytes;
}

enum class MarkKind : std::uint16_t {
  kStep = 1,        // a step that ended: its start and wall time; `step` is its number
  kPhase = 2,       // `name` is the Phase, `step` the step it ended in
  kAnnotation = 3,  // `name` is the id that a name message declared; 0 is a name beyond the bound
  kMetric = 4,      // `name` as for annotations, `value` the bits of an IEEE 754 double
  kGpuTime = 5,     // by the GPU's clock: `name` is the Phase, or kGpuIdleMark; `step` the step
};

// In place of a Phase: how long the GPU was idle before the step. The last of a step's GPU times;
// clamped where the duration is not known.
inline constexpr std::uint16_t kGpuIdleMark = 0xffff;

// One slot, four words:
//   start_ns | duration, kind << 32, name << 48 | value | step, flags << 60
// The duration is a u32 of nanoseconds (up to 4.29 s); with kMarkMicros of microseconds (up to
// 71 min), rounded down; with kMarkClamped it was longer than that.
struct Mark {
  MarkKind kind = MarkKind::kStep;
  std::uint16_t name = 0;
  std::uint64_t start_ns = 0;
  Duration duration{};
  std::uint64_t value = 0;  // for a metric; else 0
  std::uint64_t step = 0;   // below 2^60
  bool clamped = false;     // the span was longer than `duration` says
  bool after_loss = false;  // marks were dropped just before this one
};

inline constexpr std::uint64_t kMarkMicros = std::uint64_t{1} << 63;
inline constexpr std::uint64_t kMarkClamped = std::uint64_t{1} << 62;
inline constexpr std::uint64_t kMarkAfterLoss = std::uint64_t{1} << 61;
inline constexpr std::uint64_t kMarkStepMask = (std::uint64_t{1} << 60) - 1;

using MarkSlot = std::array<std::uint64_t, 4>;

// Takes the shortest unit that holds the duration; negative durations become 0.
MarkSlot EncodeMark(const Mark& mark);

// Any four words are a mark; a kind that this version does not know is skipped by the reader.
Mark DecodeMark(const MarkSlot& slot);

}  // namespace stepscope
