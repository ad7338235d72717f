#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace stepscope {

// Where the bytes of a frame are on disk.
struct SpoolPlace {
  std::uint32_t segment = 0;  // 0: nowhere
  std::uint32_t offset = 0, bytes = 0;
};

// One number of a session: a frame, or a range of numbers that will never come.
struct SpoolRecord {
  std::uint64_t first = 0;
  std::uint64_t last = 0;               // beyond `first` only for what is lost
  std::string_view lost{};              // why, for a range that is lost; empty for a frame
  std::int64_t from_us = 0, to_us = 0;  // of the samples in it; 0 where there are none
  std::uint64_t samples = 0;
  std::string bytes{};    // the frame as on the wire; empty when lost, or only on disk
  SpoolPlace place{};     // on disk
  SteadyTime appended{};  // when

  std::size_t Size() const { return bytes.empty() ? place.bytes : bytes.size(); }
};

struct SpoolLimits {
  std::size_t bytes = 8 * 1024 * 1024;   // in memory; beyond it the oldest frames are lost
  std::size_t kept_bytes = 1024 * 1024;  // of acknowledged frames, for a service that lost some
  std::size_t kept_disk_bytes = 8 * 1024 * 1024;
  Duration kept_for = 10min;
};

struct SpoolFigures {
  std::uint64_t frames_waiting = 0;     // not acknowledged, lost ranges not counted
  std::int64_t from_us = 0, to_us = 0;  // of the samples waiting
  std::uint64_t frames_lost = 0;
};

// The frames of one session between their cut and the service's acknowledgement, in order and
// without holes: what was dropped stands as a range that is lost. Holds the bytes, or where they
// are on disk. Not for several threads at once.
class Spool {
 public:
  explicit Spool(SpoolLimits limits = {}) : limits_(limits) {}

  // Goes on after `acknowledged` with what was found on disk, without holes from there on.
  Spool(SpoolLimits limits, std::uint64_t acknowledged, std::vector<SpoolRecord> found);

  // The number that the next frame must have.
  std::uint64_t next() const { return next_; }

  // `record.first` is next(). Loses the oldest frames as long as it does not fit.
  void Append(SpoolRecord record);

  // What is to be sent next, oldest first: at most so many records and, beyond the first, bytes.
  std::vector<const SpoolRecord*> Read(std::size_t records, std::size_t bytes) const;

  // All up to this number is stored, or moved past. Kept a while, in case the service asks again.
  void Acknowledge(std::uint64_t number, SteadyTime now);

  // The service wants `number` next. What is no longer here from there on becomes a range that is
  // lost. False when it was never used.
  bool Rewind(std::uint64_t number);

  // The frame is refused for ever: a range that is lost takes its place. False when it is one
  // already.
  bool Refuse(std::uint64_t number);

  // The frame turned out to be gone: a range that is lost takes its place.
  void Lose(std::uint64_t number, std::string_view why);

  // The frame that waits under this number; null when none does.
  const SpoolRecord* Waiting(std::uint64_t number) const;

  // Puts other bytes into a frame that waits.
  void Replace(std::uint64_t number, std::string bytes);

  // What waits and is in memory only, ranges that are lost among it.
  std::vector<const SpoolRecord*> Unstored() const;
  // A copy of it is on disk, and its bytes need not be here any more.
  void Stored(const SpoolRecord& copy, const SpoolPlace& place);
  // Segments before this one are gone.
  void LoseBefore(std::uint32_t segment);
  // The first segment that is still needed; 0 when none is.
  std::uint32_t FirstSegment() const;

  // Everything that waits is given up.
  void Clear();

  bool waits() const { return !waiting_.empty(); }
  SteadyTime waits_since() const { return waiting_.front().appended; }  // when something does

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
