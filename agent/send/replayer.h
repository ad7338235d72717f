#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "agent/send/sender.h"
#include "agent/spool/recording.h"
#include "core/base/clock.h"

namespace stepscope {

struct ReplayFigures {
  std::uint64_t frames = 0;   // in the recording
  std::uint64_t done = 0;     // stored, also by an earlier replay, or refused
  std::uint64_t refused = 0;  // frames that the service refused
};

// Sends a recording to a service as an agent would have: in order, each session under its own id,
// so that the service detects repeats and an interrupted replay goes on where it was. The frames of
// several sessions are sent in the order of their times, so that no node ends a job before the next
// one has begun it. For one thread. The references outlive it.
class Replayer {
 public:
  using Pause = std::function<void(Duration)>;

  // `job`: another name for the job; empty: the recorded name.
  Replayer(const Recording& recording, const std::string& job, Sender::Post post, Pause pause,
           const Clock& clock);

  // Sends one push. False when all is done. Errors end the replay: Unavailable when another try may
  // succeed.
  Result<bool> Step();

  const ReplayFigures& figures() const { return figures_; }

 private:
  // A session that is being sent.
  struct Course {
    const RecordedSession* session;
    Session id;
    std::size_t next = 0;         // index of its next frame
    std::uint64_t wanted = 1;     // number that the service wants next
    std::uint64_t schema_to = 0;  // frames up to this number carry their schema
    std::uint64_t refuse = 0;     // number of a frame to be sent as lost
    std::map<std::uint64_t, Schema> schemas{};

    bool done() const { return next == session->frames.size(); }
    const RecordedFrame& frame() const { return session->frames[next]; }
  };

  Course* Earliest(std::int64_t& until_us);
  Result<Push> Build(Course& course, std::int64_t until_us);
  Result<std::string> Encode(Course& course, const RecordedFrame& place);
  std::string EncodeLost(const Course& course, std::uint64_t first, std::uint64_t last,
                         std::string_view reason) const;
  Status Attach(Course& course, Frame& frame);
  Status Take(const PushReading& reading, const Push& push, Course& course);
  Status TakeAnswer(const PushReading& reading, const Push& push, Course& course);
  Status TakeGap(const PushReading& reading, Course& course);
  Status TakeBad(const PushReading& reading, const Push& push, Course& course);
  Status Retry(const PushReading& reading);
  void GoTo(Course& course, std::uint64_t wanted);

  const Recording& recording_;
  const std::string job_;
  const Sender::Post post_;
  const Pause pause_;
  const Clock& clock_;
  std::vector<Course> courses_;
  ReplayFigures figures_;
  std::size_t most_frames_ = kMaxFramesPerPush;
  int gaps_ = 0;  // successive gaps
  Duration next_pause_{};
  SteadyTime sick_since_{};
};

}  // namespace stepscope
