// ReadPushAnswer of sender.h: interprets an HTTP answer.

#include "agent/send/sender.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kLongestRetryAfter = 300s;

PushResponse OutcomeOfConflict(std::string_view code) {
  if (code == "gap") return PushResponse::kGap;
  if (code == "unknown-schema") return PushResponse::kUnknownSchema;
  if (code == "job-ended") return PushResponse::kOver;
  return PushResponse::kSick;
}

PushResponse OutcomeOfProblem(int status, const PushProblem* problem) {
  // A proxy may refuse large bodies and bad tokens as well.
  if (status == 413) return PushResponse::kBadBody;
  if (status == 401 || status == 403) return PushResponse::kForbidden;
  if (problem == nullptr) return PushResponse::kSick;
  if (status == 409) return OutcomeOfConflict(problem->code);
  // Other codes of 400 are about the request, and no reason to drop a frame.
  if (status == 400 && problem->code == "bad-frame") return PushResponse::kBadBody;
  if (status == 415) return PushResponse::kBadBody;
  if (status == 410) return PushResponse::kOver;
  return PushResponse::kSick;
}

PushReading ReadTaken(const HttpAnswer& answer) {
  PushReading reading;
  auto taken = DecodePushAnswer(answer.body);
  if (!taken) {
    reading.reason = "something that is not a Stepscope service answers there";
    return reading;
  }
  reading.outcome = PushResponse::kTaken;
  reading.ours = true;
  reading.answer = std::move(*taken);
  return reading;
}

}  // namespace

PushReading ReadPushAnswer(const Result<HttpAnswer>& result) {
  PushReading reading;
  if (!result) {
    reading.reason = result.error().message;
    return reading;
  }
  const HttpAnswer& answer = *result;
  if (answer.status == 200) return ReadTaken(answer);
  const auto problem = DecodePushProblem(answer.body);
  reading.ours = problem.ok();
  reading.retry_after = answer.RetryAfter(kLongestRetryAfter);
  reading.outcome = OutcomeOfProblem(answer.status, problem ? &*problem : nullptr);
  if (problem) reading.expected = problem->expected;
  reading.reason = problem && !problem->detail.empty()
                       ? Printable(problem->detail)
                       : Format("it answers with HTTP status {}", answer.status);
  return reading;
}

}  // namespace stepscope
