#include "agent/app/job/end_report.h"

#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

std::string EndText(const CommandEnd& end) {
  const std::string how = end.signal != 0 ? Format("ended by signal {}", end.signal)
                                          : Format("ended with exit code {}", end.exit_code);
  return end.reason.empty() ? how : Format("{} ({})", how, end.reason);
}

}  // namespace

void ReportEnd(const std::string& job, const CommandEnd& end, const JobSession& session,
               bool kept) {
  const SpoolFigures left = session.figures();
  const std::string reason = session.Reason();
  if (left.frames_waiting == 0) {
    LogInfo("job {} {}", job, EndText(end));
    return;
  }
  const std::string span =
      left.to_us == 0 ? std::string("the job's events")
                      : Format("samples from {} to {}", ToRfc3339(FromMicros(left.from_us)),
                               ToRfc3339(FromMicros(left.to_us)));
  LogWarning("job {} {}; not delivered: {} ({} frames){}{}{}", job, EndText(end), span,
             left.frames_waiting, reason.empty() ? "" : ": ", reason,
             kept ? "; the next agent on this node delivers it, or stepscope-agent flush" : "");
}

}  // namespace stepscope
