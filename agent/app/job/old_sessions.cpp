#include "agent/app/job/old_sessions.h"

#include <algorithm>

#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// Four pushes a second leave the service room for others.
constexpr Duration kPause = 250ms;

std::string SpanOf(const SpoolFigures& figures) {
  if (figures.to_us == 0) return "events";
  return Format("samples from {} to {}", ToRfc3339(FromMicros(figures.from_us)),
                ToRfc3339(FromMicros(figures.to_us)));
}

}  // namespace

OldSessions::OldSessions(SpoolFolder& folder, const std::string& service, Sender::Post post,
                         const Clock& clock)
    : clock_(clock) {
  for (FoundSession& found : RecoverSessions(folder)) {
    const bool ours =
        service.empty() || found.head.service.empty() || found.head.service == service;
    if (!ours) continue;
    Session session;
    session.stream = std::make_unique<FrameStream>(std::move(found), SpoolLimits{}, clock);
    session.sender = std::make_unique<Sender>(*session.stream, post, clock);
    const SpoolFigures figures = session.stream->figures();
    session.frames = figures.frames_waiting;
    if (session.frames > 0) {
      LogInfo("the spool holds {} of job {} ({} frames), left by another agent", SpanOf(figures),
              session.stream->job(), session.frames);
    }
    sessions_.push_back(std::move(session));
  }
}

Duration OldSessions::Step() {
  const SteadyTime now = clock_.Steady();
  const auto due =
      std::ranges::find_if(sessions_, [&](const Session& session) { return session.next <= now; });
  if (due == sessions_.end()) return kPause;
  const Duration wait = Send(*due, now);
  (void)due->stream->Store();  // removes what was acknowledged
  if (due->sender->over() || !due->stream->Waits()) {
    Finish(due);
  } else {
    std::rotate(due, due + 1, sessions_.end());
  }
  return wait;
}

Duration OldSessions::Send(Session& session, SteadyTime now) {
  const Duration wait = session.sender->Send();
  reason_ = session.sender->reason();
  session.known |= reason_.empty() || session.sender->over();
  if (wait == Sender::kNothingWaits || wait == 0ns) return kPause;
  session.next = now + wait;
  // A token that one session may not use may be good for another; a service that is away is away
  // for all.
  return session.sender->forbidden() ? kPause : wait;
}

void OldSessions::Finish(std::deque<Session>::iterator session) {
  const bool over = session->sender->over();
  if (over) {
    LogWarning("{} frames that another agent left of job {} are not wanted: {}", session->frames,
               session->stream->job(), session->sender->reason());
  } else if (session->frames > 0) {
    LogInfo("delivered {} frames that another agent left of job {}", session->frames,
            session->stream->job());
  }
  if (!over) delivered_frames_ += session->frames;
  sessions_.erase(session);
}

std::vector<std::string> OldSessions::UnknownJobs() const {
  std::vector<std::string> jobs;
  for (const Session& session : sessions_) {
    if (!session.known) jobs.push_back(session.stream->job());
  }
  return jobs;
}

std::vector<OldSessions::Left> OldSessions::left() const {
  std::vector<Left> left;
  for (const Session& session : sessions_) {
    left.push_back({session.stream->job(), session.sender->reason(), session.stream->figures()});
  }
  return left;
}

}  // namespace stepscope
