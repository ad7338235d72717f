#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "agent/send/sender.h"
#include "agent/spool/spool_folder.h"
#include "core/base/clock.h"

namespace stepscope {

// Delivers the sessions that ended agents have left in the spool: each session by itself, the
// oldest first, one push after the other. For one thread. The references outlive it.
class OldSessions {
 public:
  // Delivers only sessions for this service; empty: all sessions.
  OldSessions(SpoolFolder& folder, const std::string& service, Sender::Post post,
              const Clock& clock);

  // Sends one push. Returns how long to wait before the next call.
  Duration Step();

  bool empty() const { return sessions_.empty(); }
  // Jobs with sessions here that the service does not know yet.
  std::vector<std::string> UnknownJobs() const;
  // The reason why the last push was not accepted; "" when it was.
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
    std::uint64_t frames = 0;  // at the beginning
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
