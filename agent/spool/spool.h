#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/time.h"

namespace stepscope {

// One number of a session: a frame, or a range of numbers that will never come.
struct SpoolRecord {
  std::uint64_t first = 0;
  std::uint64_t last = 0;               // beyond `first` only for what is lost
  std::string_view lost{};              // why, for a range that is lost; empty for a frame
  std::int64_t from_us = 0, to_us = 0;  // of the samples in it; 0 where there are none
  std::uint64_t samples = 0;
  std::string bytes{};  // the frame as on the wire; empty when lost
};

struct SpoolLimits {
  std::size_t bytes = 64 * 1024 * 1024;  // beyond it the oldest frames are lost
  std::size_t kept_bytes = 1024 * 1024;  // of acknowledged frames, for a service that lost some
  Duration kept_for = 10min;
};

struct SpoolFigures {
  std::uint64_t frames_waiting = 0;     // not acknowledged, lost ranges not counted
  std::int64_t from_us = 0, to_us = 0;  // of the samples waiting
  std::uint64_t frames_lost = 0;
};

// The frames of one session between their cut and the service's acknowledgement, in order and
// without holes: what was dropped stands as a range that is lost. In memory; a spool on disk keeps
// the same promises across restarts. Not for several threads at once.
class Spool {
 public:
  explicit Spool(SpoolLimits limits = {}) : limits_(limits) {}

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

  // Puts other bytes into a frame that waits.
  void Replace(std::uint64_t number, std::string bytes);

  // Everything that waits is given up.
  void Clear();

  std::uint64_t acknowledged() const { return acknowledged_; }
  SpoolFigures figures() const;

 private:
  void DropOldest();
  void ForgetOld(SteadyTime now);
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
  std::size_t kept_bytes_ = 0;
};

}  // namespace stepscope
