#include "agent/send/replayer.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "core/base/log.h"
#include "core/base/random.h"
#include "core/base/text.h"
#include "core/wire/session.h"

namespace stepscope {
namespace {

constexpr std::size_t kReplayedBytes = 1024 * 1024;
constexpr Duration kFirstPause = 500ms;
constexpr Duration kLongestPause = 10s;
constexpr Duration kPatience = 60s;
constexpr int kMostReplayGaps = 8;

}  // namespace

Replayer::Replayer(const Recording& recording, const std::string& job, Sender::Post post,
                   Pause pause, const Clock& clock)
    : recording_(recording),
      job_(job),
      post_(std::move(post)),
      pause_(std::move(pause)),
      clock_(clock) {
  for (const RecordedSession& session : recording.sessions()) {
    const Session& id = session.head.session;
    courses_.push_back({.session = &session, .id = job.empty() ? id : SessionInJob(id, job)});
    figures_.frames += session.frames.size();
  }
}

// The session whose next frame is the oldest; null when all is done. `until_us` is the time of the
// next frame of another session.
Replayer::Course* Replayer::Earliest(std::int64_t& until_us) {
  Course* earliest = nullptr;
  until_us = std::numeric_limits<std::int64_t>::max();
  for (Course& course : courses_) {
    if (course.done()) continue;
    if (earliest == nullptr || course.frame().created_us < earliest->frame().created_us) {
      if (earliest != nullptr) until_us = std::min(until_us, earliest->frame().created_us);
      earliest = &course;
    } else {
      until_us = std::min(until_us, course.frame().created_us);
    }
  }
  return earliest;
}

std::string Replayer::EncodeLost(const Course& course, std::uint64_t first, std::uint64_t last,
                                 std::string_view reason) const {
  Frame frame{course.session->head, std::nullopt,
              Format(R"({{"first":{},"last":{},"reason":"{}","from_us":0,"to_us":0,"samples":0}})",
                     first, last, reason)};
  frame.head.kind = FrameKind::kLost;
  frame.head.session = course.id;
  frame.head.sequence = first;
  frame.head.schema_hash = 0;
  if (!job_.empty()) frame.head.job = job_;
  return EncodeFrame(frame);
}

// In a replay that goes on, an earlier one has sent the frame with the schema.
Status Replayer::Attach(Course& course, Frame& frame) {
  const std::uint64_t hash = frame.head.schema_hash;
  if (hash == 0 || frame.schema) return {};
  for (const RecordedFrame& place : course.session->frames) {
    if (course.schemas.contains(hash) || place.first >= frame.head.sequence) break;
    auto earlier = recording_.Read(place);
    if (!earlier) return earlier.error();
    if (earlier->schema) course.schemas.emplace(earlier->head.schema_hash, *earlier->schema);
  }
  const auto found = course.schemas.find(hash);
  if (found != course.schemas.end()) frame.schema = found->second;
  return {};
}

Result<std::string> Replayer::Encode(Course& course, const RecordedFrame& place) {
  if (place.first == course.refuse) {
    return EncodeLost(course, place.first, place.last, "refused");
  }
  auto frame = recording_.Read(place);
  if (!frame) return frame.error();
  frame->head.session = course.id;
  if (!job_.empty()) frame->head.job = job_;
  if (place.first <= course.schema_to) {
    if (Status attached = Attach(course, *frame); !attached) return attached.error();
  }
  return EncodeFrame(*frame);
}

Result<Push> Replayer::Build(Course& course, std::int64_t until_us) {
  Push push{.body = {}, .first = course.wanted};
  std::uint64_t wanted = course.wanted;
  for (std::size_t i = course.next; i < course.session->frames.size(); ++i) {
    const RecordedFrame& place = course.session->frames[i];
    const bool waits = push.frames > 0 && place.created_us > until_us;
    if (waits || push.frames >= most_frames_ || push.body.size() > kReplayedBytes) break;
    if (place.first > wanted) {
      AppendToPush(push.body, EncodeLost(course, wanted, place.first - 1, "corrupt"));
      push.last = place.first - 1;
      wanted = place.first;
      if (++push.frames >= most_frames_) break;
    }
    const auto bytes = Encode(course, place);
    if (!bytes) return bytes.error();
    AppendToPush(push.body, *bytes);
    push.last = place.last;
    wanted = place.last + 1;
    ++push.frames;
  }
  return push;
}

Result<bool> Replayer::Step() {
  std::int64_t until_us = 0;
  Course* course = Earliest(until_us);
  if (course == nullptr) return false;
  auto push = Build(*course, until_us);
  if (!push) return push.error();
  const PushReading reading = ReadPushAnswer(post_(std::move(push->body)));
  if (Status taken = Take(reading, *push, *course); !taken) return taken.error();
  return true;
}

Status Replayer::Take(const PushReading& reading, const Push& push, Course& course) {
  if (reading.outcome != PushResponse::kGap) gaps_ = 0;
  switch (reading.outcome) {
    case PushResponse::kTaken:
      return TakeAnswer(reading, push, course);
    case PushResponse::kGap:
      return TakeGap(reading, course);
    case PushResponse::kUnknownSchema:
      if (course.schema_to >= push.last) return TakeBad(reading, push, course);
      course.schema_to = push.last;
      return {};
    case PushResponse::kBadBody:
      return TakeBad(reading, push, course);
    case PushResponse::kForbidden:
      return Unavailable("the service does not take the token: " + reading.reason);
    case PushResponse::kOver:
      return Conflict(reading.reason);
    case PushResponse::kSick:
      break;
  }
  return Retry(reading);
}

Status Replayer::TakeAnswer(const PushReading& reading, const Push& push, Course& course) {
  for (const RejectedFrame& frame : reading.answer.rejected) {
    if (frame.code == "job-ended") return Conflict(Printable(frame.detail));
    ++figures_.refused;
    LogWarning("the service refused frame {}: {} ({})", frame.sequence, Printable(frame.detail),
               Printable(frame.code, 40));
  }
  if (reading.answer.acknowledged < push.first) return Retry(reading);
  sick_since_ = {};
  most_frames_ = std::min<std::size_t>(most_frames_ * 2, kMaxFramesPerPush);
  GoTo(course, reading.answer.acknowledged + 1);
  return {};
}

void Replayer::GoTo(Course& course, std::uint64_t wanted) {
  const auto& frames = course.session->frames;
  const auto place = std::ranges::lower_bound(frames, wanted, {}, &RecordedFrame::last);
  const auto next = static_cast<std::size_t>(place - frames.begin());
  figures_.done += next - course.next;  // a rewind subtracts
  course.next = next;
  course.wanted = wanted;
}

Status Replayer::TakeGap(const PushReading& reading, Course& course) {
  if (++gaps_ > kMostReplayGaps || reading.expected == 0 ||
      reading.expected > course.session->frames.back().last + 1) {
    return Unavailable(Format("the service asks for frame {} of job {}, which cannot be",
                              reading.expected, course.session->head.job));
  }
  GoTo(course, reading.expected);
  return {};
}

Status Replayer::TakeBad(const PushReading& reading, const Push& push, Course& course) {
  if (push.frames > 1) {
    most_frames_ = (push.frames + 1) / 2;
    return {};
  }
  if (!reading.ours || course.refuse == course.frame().first) return Retry(reading);
  LogWarning("the service refused frame {}: {}", push.first, reading.reason);
  ++figures_.refused;
  course.refuse = course.frame().first;
  return {};
}

Status Replayer::Retry(const PushReading& reading) {
  const std::string reason = reading.reason.empty() ? "it takes no frames" : reading.reason;
  const SteadyTime now = clock_.Steady();
  if (sick_since_ == SteadyTime{}) {
    sick_since_ = now;
    next_pause_ = kFirstPause;
    LogWarning("the service does not take frames: {}; trying for {}", reason, ToText(kPatience));
  }
  if (now - sick_since_ > kPatience) return Unavailable(reason);
  pause_(std::max(std::chrono::duration_cast<Duration>(next_pause_ * RandomShare()),
                  std::min(reading.retry_after, kPatience)));
  next_pause_ = std::min(2 * next_pause_, kLongestPause);
  return {};
}

}  // namespace stepscope
