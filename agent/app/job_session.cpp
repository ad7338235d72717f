#include "agent/app/job_session.h"

#include <utility>

namespace stepscope {

JobSession::JobSession(const JobSessionOptions& options, Uplink& uplink, DrainMarks drain,
                       const Clock& clock)
    : stream_({options.job, options.node}, SpoolLimits{}, clock),
      ticks_(stream_),
      marks_(stream_),
      sender_(
          stream_, [&uplink](std::string body) { return uplink.Post(std::move(body)); }, clock),
      delivery_({stream_, ticks_, marks_, sender_, std::move(drain), clock,
                 [&uplink] { return uplink.RefreshToken(); }},
                options.push) {}

void JobSession::Say(const JobStart& start) {
  stream_.Append({.kind = FrameKind::kLifecycle, .payload = StartedEvent(start)});
}

}  // namespace stepscope
