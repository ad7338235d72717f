#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace stepscope {

// The place of a frame's bytes on disk.
struct SpoolPlace {
  std::uint32_t segment = 0;  // 0: not on disk
  std::uint32_t offset = 0, bytes = 0;
};

// One number of a session: a frame, or a range of numbers that will never come.
struct SpoolRecord {
  std::uint64_t first = 0;
  std::uint64_t last = 0;               // greater than `first` only for a lost range
  std::string_view lost{};              // reason of a lost range; empty for a frame
  std::int64_t from_us = 0, to_us = 0;  // times of its samples; 0 where there are none
  std::uint64_t samples = 0;
  std::string bytes{};    // the frame as on the wire; empty when lost, or only on disk
  SpoolPlace place{};     // on disk
  SteadyTime appended{};  // time of Append

  std::size_t Size() const { return bytes.empty() ? place.bytes : bytes.size(); }
};

struct SpoolLimits {
  std::size_t bytes = 8 * 1024 * 1024;      // in memory; beyond it the oldest frames are lost
  std::size_t kept_bytes = 1024 * 1024;     // acknowledged frames, for a service that lost some
  std::size_t gathered_bytes = 512 * 1024;  // tables that wait to be joined, while it is away
  std::size_t kept_disk_bytes = 8 * 1024 * 1024;
  Duration kept_for = 10min;

  // The limits of each of so many streams that share this memory, 16 KiB at least: the frames of
  // some seconds, without which a stream would tell nothing.
  SpoolLimits SharedBy(std::size_t streams) const;
};

struct SpoolFigures {
  std::uint64_t frames_waiting = 0;     // frames that are not acknowledged; without lost ranges
  std::int64_t from_us = 0, to_us = 0;  // times of the waiting samples
  std::uint64_t frames_lost = 0;
};

// The frames of one session between their cut and the service's acknowledgement, in order and
// without gaps: dropped frames become lost ranges. Holds their bytes, or the place on disk. Not for
// several threads at once.
class Spool {
 public:
  explicit Spool(SpoolLimits limits = {}) : limits_(limits) {}

  // Continues after `acknowledged` with the records found on disk, without gaps from there on.
  Spool(SpoolLimits limits, std::uint64_t acknowledged, std::vector<SpoolRecord> found);

  // Holds from the next Append and Acknowledge on.
  void Limit(const SpoolLimits& limits) { limits_ = limits; }

  // The number that the next frame must have.
  std::uint64_t next() const { return next_; }

  // Adds a record; `record.first` must be next(). Loses the oldest frames until it fits.
  void Append(SpoolRecord record);

  // The next records to send, oldest first: at most so many records and, beyond the first, bytes.
  std::vector<const SpoolRecord*> Read(std::size_t records, std::size_t bytes) const;

  // The service has stored or skipped all numbers up to this one. The frames are kept a while, in
  // case the service asks again.
  void Acknowledge(std::uint64_t number, SteadyTime now);

  // The service wants `number` next. Frames that are gone from there on become a lost range. False
  // when the number was never used.
  bool Rewind(std::uint64_t number);

  // The frame is refused for ever and becomes a lost range. False when it is one already.
  bool Refuse(std::uint64_t number);

  // The frame could not be read and becomes a lost range.
  void Lose(std::uint64_t number, std::string_view why);

  // The waiting frame with this number; null when there is none.
  const SpoolRecord* Waiting(std::uint64_t number) const;

  // Replaces the bytes of a waiting frame.
  void Replace(std::uint64_t number, std::string bytes);

  // Waiting records that are in memory only, lost ranges among them.
  std::vector<const SpoolRecord*> Unstored() const;
  // The record is on disk at this place, and its bytes may leave the memory.
  void Stored(const SpoolRecord& copy, const SpoolPlace& place);
  // Segments before this one were removed.
  void LoseBefore(std::uint32_t segment);
  // The first segment that is still needed; 0 when none is.
  std::uint32_t FirstSegment() const;

  // Drops all waiting records.
  void Clear();

  bool waits() const { return !waiting_.empty(); }
  SteadyTime waits_since() const { return waiting_.front().appended; }  // only if one waits

  std::uint64_t acknowledged() const { return acknowledged_; }
  SpoolFigures figures() const;

 private:
  void DropOldest();
  void JoinLost();
  void ForgetOld(SteadyTime now);
  void ForgetFirst();
  std::deque<SpoolRecord>::iterator Find(std::uint64_t number);

  SpoolLimits limits_;
  std::uint64_t next_ = 1;
  std::uint64_t acknowledged_ = 0;
  std::uint64_t frames_lost_ = 0;
  std::deque<SpoolRecord> waiting_;
  std::size_t waiting_bytes_ = 0;

  struct Kept {
    SpoolRecord record;
    SteadyTime at;
  };
  std::deque<Kept> kept_;
  std::size_t kept_bytes_ = 0, kept_disk_bytes_ = 0;
};

}  // namespace stepscope
