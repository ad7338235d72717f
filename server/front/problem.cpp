#include "server/front/problem.h"

#include <algorithm>

#include "core/base/json.h"
#include "core/base/log.h"

namespace stepscope {
namespace {

struct Kind {
  std::string_view code;
  int status;
  std::string_view title;
};

constexpr Kind kKinds[] = {
    {"bad-request", 400, "Bad request"},
    {"invalid-parameter", 400, "Invalid query parameter"},
    {"invalid-body", 400, "Invalid body"},
    {"bad-frame", 400, "Bad frame"},
    {"unauthorized", 401, "A token is wanted"},
    {"forbidden", 403, "Not allowed"},
    {"foreign-origin", 403, "Foreign origin"},
    {"node-bound", 403, "The node belongs to another token"},
    {"not-found", 404, "Not found"},
    {"method-not-allowed", 405, "Method not allowed"},
    {"timeout", 408, "The request took too long"},
    {"conflict", 409, "Conflict"},
    {"job-exists", 409, "The job exists with another configuration"},
    {"job-ended", 409, "The job has ended"},
    {"webhook-exists", 409, "The webhook exists"},
    {"limit-webhooks", 409, "Too many webhooks"},
    {"delivery-waits", 409, "The message waits already"},
    {"gap", 409, "Numbers are missing"},
    {"unknown-schema", 409, "The schema is not known"},
    {"unknown-job", 410, "The job is not known"},
    {"length-required", 411, "Length required"},
    {"too-large", 413, "Body too large"},
    {"batch-full", 413, "The batch is full"},
    {"target-too-long", 414, "Request target too long"},
    {"unsupported-media-type", 415, "Unsupported media type"},
    {"range-not-satisfiable", 416, "Range not satisfiable"},
    {"expectation-failed", 417, "Expectation failed"},
    {"misdirected", 421, "Misdirected request"},
    {"unknown-metric", 422, "The metric is not known"},
    {"too-many-requests", 429, "Too many requests"},
    {"limit-jobs", 429, "Too many new jobs today"},
    {"limit-nodes", 429, "Too many new nodes today"},
    {"limit-series", 429, "Too many new series today"},
    {"head-too-large", 431, "Request head too large"},
    {"internal", 500, "Internal error"},
    {"not-implemented", 501, "Not implemented"},
    {"unavailable", 503, "Temporarily unavailable"},
    {"storage-low", 503, "Storage is low"},
    {"version-not-supported", 505, "HTTP version not supported"},
};

const Kind& FindKind(std::string_view code) {
  const auto* found = std::ranges::find(kKinds, code, &Kind::code);
  return found == std::end(kKinds) ? *std::ranges::find(kKinds, "internal", &Kind::code) : *found;
}

OrderedJson ToJson(const Fault& fault) {
  OrderedJson json = OrderedJson::object();
  if (!fault.parameter.empty()) json["parameter"] = fault.parameter;
  if (fault.parameter.empty()) json["pointer"] = fault.pointer;
  json["detail"] = fault.detail;
  return json;
}

std::string_view CodeOf(const Error& error, std::string_view invalid) {
  switch (error.code) {
    case Code::kInvalid:
      return invalid;
    case Code::kNotFound:
      return "not-found";
    case Code::kConflict:
      return "conflict";
    case Code::kUnavailable:
      return "unavailable";
    case Code::kInternal:
      break;
  }
  return "internal";
}

}  // namespace

Reply ToReply(const Problem& problem, const Request& request) {
  const Kind& kind = FindKind(problem.code);
  OrderedJson json = {{"type", Format("urn:stepscope:problem:{}", kind.code)},
                      {"title", kind.title},
                      {"status", kind.status},
                      {"code", kind.code},
                      {"detail", problem.detail},
                      {"request_id", request.request_id}};
  if (problem.expected) json["expected"] = *problem.expected;
  for (const Fault& fault : problem.faults) json["errors"].push_back(ToJson(fault));
  Reply reply{.status = kind.status,
              .content_type = "application/problem+json",
              .body = Dump(json),
              .headers = {}};
  if (kind.status == 503) reply.headers.emplace_back("Retry-After", "2");
  return reply;
}

Reply ToReply(const Error& error, const Request& request, std::string_view invalid) {
  const std::string_view code = CodeOf(error, invalid);
  if (code == "internal") {
    LogError("request {}: {} {}: {}", request.request_id, request.method, Printable(request.path),
             Printable(error.message, 500));
    return ToReply(Problem{"internal", "the service failed; its log names this request", {}, {}},
                   request);
  }
  if (code == "unavailable") {
    LogWarning("request {}: {} {}: {}", request.request_id, request.method, Printable(request.path),
               Printable(error.message, 500));
    return Busy(request, "the database does not answer; try again");
  }
  return ToReply(Problem{std::string(code), error.message, {}, {}}, request);
}

Reply Busy(const Request& request, std::string detail) {
  return ToReply(Problem{"unavailable", std::move(detail), {}, {}}, request);
}

}  // namespace stepscope
