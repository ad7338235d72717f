#include "agent/app/job/job_session.h"

#include <utility>

#include "core/base/log.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

// More commands than this in an agent's life mean that the service is faulty.
constexpr std::size_t kMostCommands = 10'000;

}  // namespace

JobSession::JobSession(const JobSessionOptions& options, Uplink& uplink, DrainMarks drain,
                       const Clock& clock)
    : clock_(clock),
      obey_(options.obey),
      stream_({options.job, options.node, options.service}, SpoolLimits{}, clock, options.spool,
              options.streams),
      ticks_(stream_),
      marks_(stream_),
      sender_(
          stream_, [&uplink](std::string body) { return uplink.Post(std::move(body)); }, clock,
          [this](const ServiceCommand& command) { ExecuteCommand(command); }),
      delivery_({stream_, ticks_, marks_, sender_, AfterStart(std::move(drain)), clock, live_,
                 [&uplink] { return uplink.RefreshToken(); }, options.take_trace},
                options.push) {}

void JobSession::SendStart(const JobStart& start) {
  stream_.Append({.kind = FrameKind::kLifecycle, .payload = StartedEvent(start)});
  start_sent_ = true;
}

DrainMarks JobSession::AfterStart(DrainMarks drain) const {
  if (!drain) return drain;
  return [this, drain = std::move(drain)] { return start_sent_ ? drain() : IntakeBatch(); };
}

void JobSession::ExecuteCommand(const ServiceCommand& command) {
  if (answered_.size() >= kMostCommands || !answered_.insert(command.id).second) return;
  const std::string refusal = obey_ ? obey_(command) : "this agent takes no commands";
  const std::string id = Printable(command.id, 64);
  // The end of the window answers the command.
  if (refusal.empty() && command.kind == kSpansCommand) {
    return LogInfo("keeps the spans that the service asked for: {}", id);
  }
  if (refusal.empty()) {
    LogInfo("did what the service asked for: {}", id);
  } else {
    LogWarning("refused what the service asked for, {}: {}", id, refusal);
  }
  stream_.Append(
      {.kind = FrameKind::kLifecycle, .payload = AnsweredEvent(clock_.Now(), command.id, refusal)});
}

}  // namespace stepscope
