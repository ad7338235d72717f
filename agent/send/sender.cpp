#include "agent/send/sender.h"

#include <algorithm>
#include <utility>

#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr std::size_t kPushBytes = 1024 * 1024;
constexpr Duration kFirstRetry = 500ms;
constexpr Duration kLongestRetry = 30s;
constexpr Duration kForbiddenRetry = 60s;
constexpr Duration kBetweenWarnings = 60s;
// More successive gaps than this mean that the service is faulty.
constexpr int kMostGaps = 8;

Duration Share(Duration whole, double share) {
  return std::chrono::duration_cast<Duration>(whole * share);
}

}  // namespace

Duration Sender::Send() {
  if (over_) return kNothingWaits;
  Push push = stream_.NextPush(most_frames_, kPushBytes);
  if (push.frames == 0) return kNothingWaits;
  highest_sent_ = std::max(highest_sent_, push.last);
  const Time sent = clock_.Now();
  const SteadyTime sent_steady = clock_.Steady();
  const PushReading reading = ReadPushAnswer(post_(std::move(push.body)));
  const Duration round_trip = clock_.Steady() - sent_steady;
  // A recording's answer has no time.
  if (reading.outcome == PushResponse::kTaken && reading.answer.server_time != Time{}) {
    const Time middle = sent + round_trip / 2;
    stream_.SetClockOffset(ToMicros(reading.answer.server_time) - ToMicros(middle),
                           std::max<std::int64_t>(1, round_trip / 1us));
  }
  return Take(reading, push);
}

Duration Sender::Take(const PushReading& reading, const Push& push) {
  gaps_ = reading.outcome == PushResponse::kGap ? gaps_ + 1 : 0;
  switch (reading.outcome) {
    case PushResponse::kTaken:
      return TakeRejected(reading, push);
    case PushResponse::kGap:
      return FollowGap(reading);
    case PushResponse::kUnknownSchema:
      return GiveSchema(reading, push);
    case PushResponse::kBadBody:
      return Halve(reading, push);
    case PushResponse::kOver:
      return End(reading.reason);
    case PushResponse::kForbidden:
      return Retry(Trouble::kForbidden, reading.reason);
    case PushResponse::kSick:
      break;
  }
  return Retry(Trouble::kSick, reading.reason, reading.retry_after);
}

Duration Sender::TakeRejected(const PushReading& reading, const Push& push) {
  const PushAnswer& answer = reading.answer;
  // Frames that another agent had sent may not have been on disk.
  if (answer.acknowledged > highest_sent_ && !stream_.found()) {
    return Retry(Trouble::kSick, Format("it acknowledges frame {}, but only {} were sent",
                                        answer.acknowledged, highest_sent_));
  }
  for (const RejectedFrame& frame : answer.rejected) {
    if (frame.code == "job-ended") return End(Printable(frame.detail));
    LogRefused(frame.sequence,
               Format("{} ({})", Printable(frame.detail), Printable(frame.code, 40)),
               stream_.KeepRefused(frame.sequence));
  }
  // A service that takes nothing of a push is not asked again at once, for ever.
  if (answer.acknowledged < push.first) return Retry(Trouble::kSick, "it takes no frames");
  stream_.Acknowledge(answer.acknowledged);
  for (const ServiceCommand& command : answer.commands) {
    if (obey_) obey_(command);
  }
  most_frames_ = std::min<std::size_t>(most_frames_ * 2, kMaxFramesPerPush);
  NoteWell();
  return stream_.Waits() ? 0ns : kNothingWaits;
}

Duration Sender::FollowGap(const PushReading& reading) {
  if (!stream_.Rewind(reading.expected)) {
    return Retry(Trouble::kSick,
                 Format("it asks for frame {}, which was never made", reading.expected));
  }
  if (gaps_ > kMostGaps) return Retry(Trouble::kSick, "it asks for one frame after the other");
  return 0ns;
}

Duration Sender::GiveSchema(const PushReading& reading, const Push& push) {
  // Attaches schemas once; when they are refused, the frame is.
  if (schema_given_ >= push.last) return Halve(reading, push);
  stream_.AttachSchemas(push.last);
  schema_given_ = push.last;
  return 0ns;
}

Duration Sender::Halve(const PushReading& reading, const Push& push) {
  if (push.frames > 1) {
    most_frames_ = (push.frames + 1) / 2;
    return 0ns;
  }
  if (!reading.ours) return Retry(Trouble::kSick, reading.reason);
  const std::string kept = stream_.KeepRefused(push.first);
  if (!stream_.Refuse(push.first)) return Retry(Trouble::kSick, reading.reason);
  LogRefused(push.first, reading.reason, kept);
  return 0ns;
}

void Sender::LogRefused(std::uint64_t number, std::string_view reason, std::string_view kept) {
  if (kept.empty()) {
    LogWarning("the service refused frame {}: {}", number, reason);
  } else {
    LogWarning("the service refused frame {}: {}; a copy is kept in the spool as {}", number,
               reason, kept);
  }
}

Duration Sender::End(std::string_view reason) {
  if (!stream_.found()) {
    LogWarning("the service takes no more of job {}: {}; it runs on unprofiled", stream_.job(),
               reason);
  }
  over_ = true;
  reason_ = reason;
  stream_.GiveUp();
  return kNothingWaits;
}

Duration Sender::Retry(Trouble trouble, std::string_view reason, Duration retry_after) {
  reason_ = reason;
  LogTrouble(trouble);
  if (trouble == Trouble::kForbidden) return Share(kForbiddenRetry, 0.5 + RandomShare());
  const Duration most = std::min(kLongestRetry, kFirstRetry * (1 << std::min(failures_++, 6)));
  // The share is random, or all agents that got the same answer come back at once.
  return std::max(Share(most, RandomShare()), Share(retry_after, 1 + RandomShare() / 10));
}

// Logs a trouble when it begins, and when its reason changes, but not more often than people read.
void Sender::LogTrouble(Trouble trouble) {
  const SteadyTime now = clock_.Steady();
  const bool other = reason_ != logged_reason_ && now - logged_at_ >= kBetweenWarnings;
  if (trouble == std::exchange(trouble_, trouble) && !other) return;
  logged_reason_ = reason_;
  logged_at_ = now;
  if (stream_.found()) return;  // the owner of old sessions logs for all of them
  const std::string_view when =
      trouble == Trouble::kForbidden ? "when --token-file holds a token that it takes" : "later";
  LogWarning("the service does not take samples: {}; they are kept and sent {}", reason_, when);
}

void Sender::NoteWell() {
  failures_ = 0;
  reason_.clear();
  if (trouble_ == Trouble::kNone) return;
  trouble_ = Trouble::kNone;
  if (!stream_.found()) LogInfo("the service takes samples again");
}

}  // namespace stepscope
