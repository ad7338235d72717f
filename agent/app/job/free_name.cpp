#include "agent/app/job/free_name.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/text.h"
#include "core/model/status.h"

namespace stepscope {
namespace {

constexpr Duration kProbeTime = 500ms;
constexpr int kMostRuns = 1000;
constexpr std::size_t kLongestName = 63;

// The second run of "name" is "name-2"; a long name is cut, the number is not.
std::string NameOfRun(const std::string& job, int run) {
  if (run == 1) return job;
  const std::string number = Format("-{}", run);
  return job.substr(0, kLongestName - number.size()) + number;
}

bool SaysEnded(const HttpAnswer& answer) {
  if (answer.status != 200) return false;
  const auto json = ParseJson(answer.body);
  if (!json || !json->is_object() || !json->contains("status")) return false;
  const Json& text = (*json)["status"];
  const auto status = text.is_string() ? ParseJobStatus(text.get<std::string>()) : std::nullopt;
  return status && HasEnded(*status);
}

// What the service tells of the job; one of an earlier version tells it as a part of the whole.
Result<HttpAnswer> AskOf(Uplink& uplink, const std::string& job) {
  Result<HttpAnswer> answer = uplink.AskStatus(job);
  if (!answer || answer->status != 404) return answer;
  return uplink.AskJob(job);
}

}  // namespace

std::string FreeJobName(const UplinkOptions& options, const std::string& job, const Clock& clock) {
  UplinkOptions short_patience = options;
  short_patience.request_limit = kProbeTime;
  const auto uplink = Uplink::Make(short_patience);
  if (!uplink) return job;
  const SteadyTime until = clock.Steady() + kProbeTime;
  for (int run = 1; run < kMostRuns && clock.Steady() < until; ++run) {
    std::string name = NameOfRun(job, run);
    const auto answer = AskOf(**uplink, name);
    if (!answer) return job;
    if (!SaysEnded(*answer)) return name;
  }
  return job;
}

}  // namespace stepscope
