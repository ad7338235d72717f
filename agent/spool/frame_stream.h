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
#include "agent/spool/stream_count.h"
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

// The sender of the frames, and the service that they are for.
struct StreamOwner {
  std::string job{}, node{}, service{};
};

// The frames of one session: numbers them, spools them, and makes pushes. A schema is sent with the
// first frame that uses it.
//
// A frame that is not acknowledged for kAwayAfter means that the service is away: from then on
// tables are gathered into larger frames, and Store writes all to disk. Any thread may append; one
// calls Store, and one NextPush and the functions for its answer.
class FrameStream {
 public:
  static constexpr Duration kAwayAfter = 5s;
  static constexpr Duration kGatherFor = 300s;

  // Without a folder everything stays in memory. The streams of `count` share the limits of one.
  // The references outlive it.
  FrameStream(const StreamOwner& owner, const SpoolLimits& limits, const Clock& clock,
              SpoolFolder* folder = nullptr, StreamCount* count = nullptr);
  // Delivers a session that another agent left; nothing may be appended.
  FrameStream(FoundSession found, const SpoolLimits& limits, const Clock& clock);

  void Append(const FrameContent& content);

  // The waiting frames, from memory and disk. Gathered tables become frames when nothing else
  // waits.
  Push NextPush(std::size_t frames, std::size_t bytes);
  bool Waits() const;

  void Acknowledge(std::uint64_t number);
  bool Rewind(std::uint64_t number);
  bool Refuse(std::uint64_t number);
  // Copies a waiting frame, which the service refused, to the spool's folder for people. Returns
  // its path; "" without a spool, or when it could not be written.
  std::string KeepRefused(std::uint64_t number);
  // The service wants nothing more of this session: waiting frames are dropped, and all later ones.
  void GiveUp();

  // Puts the schema into every waiting frame up to `last`, for a service that does not know it.
  void AttachSchemas(std::uint64_t last);

  // Sets the clock offset in the head of every later frame.
  void SetClockOffset(std::int64_t offset_us, std::int64_t round_trip_us);

  // Checks whether the service is away, writes all frames to disk if so, and removes frames that
  // are not needed any more. Waits for the disk, without holding up other threads. A failure is
  // logged when it begins; the next call tries again. True when all waiting frames are on disk.
  bool Store() { return StoreNow(false); }
  // Stores all waiting frames, for the next agent; no frame may be appended any more. True when all
  // are delivered or on disk.
  bool HandOver();
  // How long nothing needs to be stored: until the service may be away. 0 while it is away.
  Duration UntilStore() const;

  bool away() const;
  std::uint64_t acknowledged() const;
  SpoolFigures figures() const;
  const Session& session() const { return head_.session; }
  const std::string& job() const { return head_.job; }
  bool found() const { return found_; }  // whether another agent left the session

 private:
  struct State {
    Spool spool;
    std::deque<std::pair<std::uint64_t, Schema>> schemas{};  // schemas that were sent, newest last
    std::int64_t clock_offset_us = 0;
    std::int64_t round_trip_us = 0;
    bool given_up = false;

    bool away = false;
    FrameBatch gathered{};
    SteadyTime gathered_since{};
    std::uint64_t parts_base = 0;      // number that the first frame of `gathered` will have
    std::vector<std::string> parts{};  // records for `gathered` that are not on disk yet
    std::uint64_t parts_count = 0;     // records for `gathered`, on disk or not
    bool parts_off = false;            // one could not be written: later ones are useless
    std::uint64_t closed_end = 0;      // number behind the last frame that was gathered
  };
  // The work of one call of Store.
  struct Storing {
    std::vector<SpoolRecord> frames{};  // and lost ranges
    std::uint64_t acknowledged = 0;
    std::uint64_t parts_base = 0;
    std::vector<std::string> parts{};
    bool gathered_is_safe = false;  // frames made of the parts on disk are stored
    bool whole = false;             // nothing else waits than `frames`, `parts` and frames on disk
    bool over = false;              // the session is given up, or delivered
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
  const SpoolLimits limits_;
  const StreamCount::Member member_;
  FrameHead head_{};  // fields that all frames share
  const bool found_ = false;
  std::unique_ptr<SessionLog> log_;  // null: memory only
  bool storing_ = true;              // result of the last Store
  Guarded<State> state_;
};

}  // namespace stepscope
