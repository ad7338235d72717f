#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "agent/send/sender.h"
#include "agent/spool/spool_folder.h"
#include "core/base/clock.h"

namespace stepscope {

// What agents that are no more have left in the spool, on its way to the service: each session by
// itself, the oldest first, one push after the other. For one thread. The references outlive it.
class OldSessions {
 public:
  // `service`: leaves what was meant for another one; empty: takes all.
  OldSessions(SpoolFolder& folder, const std::string& service, Sender::Post post,
              const Clock& clock);

  // Sends one push. Says how long to wait before the next call.
  Duration Step();

  bool empty() const { return sessions_.empty(); }
  // Jobs with sessions here that the service does not know yet.
  std::vector<std::string> UnknownJobs() const;
  // Why the last push was not taken; "" when it was.
  const std::string& reason() const { return reason_; }

  struct Left {
    std::string job, reason;
    SpoolFigures figures;
  };
  std::vector<Left> left() const;
  std::uint64_t delivered_frames() const { return delivered_frames_; }

 private:
  struct Session {
    std::unique_ptr<FrameStream> stream;
    std::unique_ptr<Sender> sender;
    std::uint64_t frames = 0;  // at first
    SteadyTime next{};
    bool known = false;
  };

  Duration Send(Session& session, SteadyTime now);
  void Finish(std::deque<Session>::iterator session);

  const Clock& clock_;
  std::deque<Session> sessions_;
  std::string reason_;
  std::uint64_t delivered_frames_ = 0;
};

}  // namespace stepscope
