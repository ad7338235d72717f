#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "agent/spool/spool.h"
#include "core/base/clock.h"
#include "core/base/guarded.h"
#include "core/wire/frame.h"

namespace stepscope {

// What goes into one frame, before it has a number.
struct FrameContent {
  FrameKind kind = FrameKind::kLifecycle;
  std::string payload{};
  const Schema* schema = nullptr;  // of the table in the payload
  std::uint64_t schema_hash = 0;
  std::int64_t from_us = 0, to_us = 0;  // of the samples in it
  std::uint64_t samples = 0;
};

// The next frames to send, as the body of a push. Empty when nothing waits.
struct Push {
  std::string body;
  std::size_t frames = 0;
  std::uint64_t first = 0, last = 0;
};

// The frames of one session: numbers them, spools them, and hands out pushes. A schema rides along
// with the first frame that uses it. Any thread.
class FrameStream {
 public:
  FrameStream(std::string job, std::string node, const SpoolLimits& limits, const Clock& clock);

  void Append(const FrameContent& content);

  Push NextPush(std::size_t frames, std::size_t bytes) const;

  void Acknowledge(std::uint64_t number);
  bool Rewind(std::uint64_t number);
  bool Refuse(std::uint64_t number);
  // Nothing of this session is wanted any more: what waits is dropped, and so is what comes.
  void GiveUp();

  // Puts the schema into every frame that waits up to `last`, for a service that does not know it.
  void AttachSchemas(std::uint64_t last);

  // Goes into the head of every later frame.
  void SetClockOffset(std::int64_t offset_us, std::int64_t round_trip_us);

  std::uint64_t acknowledged() const;
  SpoolFigures figures() const;
  const Session& session() const { return head_.session; }

 private:
  struct State {
    Spool spool;
    std::deque<std::pair<std::uint64_t, Schema>> schemas;  // that rode along, newest last
    std::int64_t clock_offset_us = 0;
    std::int64_t round_trip_us = 0;
    bool given_up = false;
  };

  FrameHead HeadOf(const State& state, FrameKind kind, std::uint64_t sequence) const;
  std::string EncodeContent(State& state, const FrameContent& content) const;
  std::string EncodeLost(const State& state, const SpoolRecord& record) const;

  const Clock& clock_;
  FrameHead head_;  // what all frames have in common
  Guarded<State> state_;
};

}  // namespace stepscope
