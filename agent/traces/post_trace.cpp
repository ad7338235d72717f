#include "agent/traces/post_trace.h"

#include "core/base/json.h"
#include "core/base/text.h"

namespace stepscope {
namespace {

constexpr Duration kRequestLimit = 2min;
constexpr char kOctets[] = "application/octet-stream";

std::string Detail(const HttpAnswer& answer) {
  const auto json = ParseJson(answer.body, {.bytes = 1024 * 1024, .values = 10'000});
  if (json && json->is_object() && json->contains("detail") && (*json)["detail"].is_string()) {
    return Printable((*json)["detail"].get<std::string>());
  }
  return Format("HTTP status {}", answer.status);
}

TraceAnswer::End EndOf(int status) {
  if (status == 200 || status == 201) return TraceAnswer::End::kTaken;
  if (status == 404) return TraceAnswer::End::kUnknownJob;
  const bool later = status == 401 || status == 429 || status >= 500;
  return later ? TraceAnswer::End::kLater : TraceAnswer::End::kRefused;
}

}  // namespace

Result<std::unique_ptr<Uplink>> MakeTraceUplink(UplinkOptions options) {
  options.request_limit = kRequestLimit;
  return Uplink::Make(options);
}

TraceAnswer PostTrace(Uplink& uplink, const WaitingTrace& trace) {
  const auto answer = uplink.PostBody(trace.path, kOctets, trace.read, trace.bytes);
  if (!answer) return {.reason = answer.error().message};
  const TraceAnswer::End end = EndOf(answer->status);
  if (end == TraceAnswer::End::kTaken) return {.end = end};
  return {end, Detail(*answer), answer->RetryAfter(10s)};
}

}  // namespace stepscope
