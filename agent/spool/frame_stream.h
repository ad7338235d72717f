#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "agent/spool/frame_batch.h"
#include "agent/spool/recover.h"
#include "agent/spool/session_log.h"
#include "agent/spool/spool.h"
#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/wire/frame.h"

namespace stepscope {

// The next frames to send, as the body of a push. Empty when nothing waits.
struct Push {
  std::string body;
  std::size_t frames = 0;
  std::uint64_t first = 0, last = 0;
};

// Whose frames they are, and which service they are for.
struct StreamOwner {
  std::string job{}, node{}, service{};
};

// The frames of one session: numbers them, spools them, and hands out pushes. A schema rides along
// with the first frame that uses it.
//
// A frame that is not acknowledged for kAwayAfter means that the service is away: from then on
// tables are gathered into larger frames, and Store brings all to disk. Any thread; Store on one,
// NextPush and what follows from its answer on one.
class FrameStream {
 public:
  static constexpr Duration kAwayAfter = 5s;
  static constexpr Duration kGatherFor = 300s;

  // Without a folder everything stays in memory. The references outlive it.
  FrameStream(const StreamOwner& owner, const SpoolLimits& limits, const Clock& clock,
              SpoolFolder* folder = nullptr);
  // Goes on to deliver what another agent left; nothing is to be appended.
  FrameStream(FoundSession found, const SpoolLimits& limits, const Clock& clock);

  void Append(const FrameContent& content);

  // All that waits now, from memory and disk. What was gathered becomes frames when nothing else
  // waits.
  Push NextPush(std::size_t frames, std::size_t bytes);
  bool Waits() const;

  void Acknowledge(std::uint64_t number);
  bool Rewind(std::uint64_t number);
  bool Refuse(std::uint64_t number);
  // Copies a frame that waits, and that the service refused, to where people find it in the spool.
  // Returns where; "" without a spool, or when it could not be written.
  std::string KeepRefused(std::uint64_t number);
  // Nothing of this session is wanted any more: what waits is dropped, and so is what comes.
  void GiveUp();

  // Puts the schema into every frame that waits up to `last`, for a service that does not know it.
  void AttachSchemas(std::uint64_t last);

  // Goes into the head of every later frame.
  void SetClockOffset(std::int64_t offset_us, std::int64_t round_trip_us);

  // Notes whether the service is away, brings to disk what is not there yet if so, and removes what
  // is not needed any more. Waits for the disk, without holding up anybody else. A failure is
  // logged when it begins; the next call tries again. True when all that waits is on disk.
  bool Store() { return StoreNow(false); }
  // The same with all that waits, for the agent that comes next; no frame may be appended any more.
  // True when all is delivered or on disk.
  bool HandOver();
  // How long nothing needs to be stored: until the service may be away. 0 while it is.
  Duration UntilStore() const;

  bool away() const;
  std::uint64_t acknowledged() const;
  SpoolFigures figures() const;
  const Session& session() const { return head_.session; }
  const std::string& job() const { return head_.job; }
  bool found() const { return found_; }  // another agent's

 private:
  struct State {
    Spool spool;
    std::deque<std::pair<std::uint64_t, Schema>> schemas{};  // that rode along, newest last
    std::int64_t clock_offset_us = 0;
    std::int64_t round_trip_us = 0;
    bool given_up = false;

    bool away = false;
    FrameBatch gathered{};
    SteadyTime gathered_since{};
    std::uint64_t parts_base = 0;      // number that the first frame of `gathered` will have
    std::vector<std::string> parts{};  // of `gathered`: records that are not on disk yet
    std::uint64_t parts_count = 0;     // of `gathered`, on disk or not
    bool parts_off = false;            // one could not be written: what follows it is no use
    std::uint64_t closed_end = 0;      // number behind the last frame that was gathered
  };
  // What one call of Store has to do.
  struct Storing {
    std::vector<SpoolRecord> frames{};  // and ranges that are lost
    std::uint64_t acknowledged = 0;
    std::uint64_t parts_base = 0;
    std::vector<std::string> parts{};
    bool gathered_is_safe = false;  // the frames of parts on disk need these no more
    bool whole = false;             // nothing waits beside `frames`, `parts` and what is on disk
    bool over = false;              // nothing of this session is wanted, or all of it is delivered
  };

  FrameHead HeadOf(const State& state, FrameKind kind, std::uint64_t sequence) const;
  std::string EncodeContent(State& state, const FrameContent& content) const;
  std::string EncodeLost(const State& state, const SpoolRecord& record) const;
  void Number(State& state, const FrameContent& content) const;
  void Gather(State& state, const FrameContent& content) const;
  void CloseGathered(State& state) const;

  std::vector<SpoolRecord> NextRecords(std::size_t frames, std::size_t bytes);
  bool Load(SpoolRecord& record);

  bool StoreNow(bool handing_over);
  Storing Plan(State& state, bool handing_over) const;
  Status StoreAll(Storing& plan);
  Status StoreFrames(const Storing& plan);
  Status StoreParts(Storing& plan);
  std::string PayloadOf(const SpoolRecord& record);
  void LoseRemoved();
  void LogStorage(const Status& stored);

  const Clock& clock_;
  FrameHead head_{};  // what all frames have in common
  const bool found_ = false;
  std::unique_ptr<SessionLog> log_;  // null: memory alone
  bool storing_ = true;              // how the last Store went
  Guarded<State> state_;
};

}  // namespace stepscope
