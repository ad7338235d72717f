// POST /batch: several calls that only read, in one request.

#include <algorithm>
#include <exception>
#include <memory>
#include <ranges>
#include <utility>

#include "core/base/text.h"
#include "server/api/http/answer.h"
#include "server/api/http/body.h"
#include "server/api/http/json_text.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/front/admission.h"
#include "server/front/gate.h"
#include "server/front/route_table.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostCalls = 8;
// A batch holds no more than a single call may: what comes behind this many bytes or this time is
// to be asked by itself.
constexpr std::size_t kMostAnswered = 4 << 20;
constexpr Duration kLongest = 500ms;

// A call of the batch as the request that it would be by itself.
Request PartOf(const Request& batch, std::string_view target) {
  Request part;
  const std::size_t mark = std::min(target.find('?'), target.size());
  part.method = "GET";
  part.path = Format("/api/v1{}", target.substr(0, mark));
  part.query = target.substr(std::min(mark + 1, target.size()));
  part.headers = {{"accept", std::string(kJsonType)}};
  part.peer = batch.peer;
  part.secure = batch.secure;
  part.caller = batch.caller;
  part.request_id = batch.request_id;
  return part;
}

Reply Refused(const Request& part, std::string_view code, std::string detail) {
  return ToReply(Problem{std::string(code), std::move(detail), {}, {}}, part);
}

Reply CallRoute(const Match& match, const Request& part) {
  try {
    return match.route->handler(part, match.parameters);
  } catch (const std::exception& fault) {  // the other calls have their answers all the same
    return ToReply(Internal(fault.what()), part);
  }
}

Reply AnswerPart(const RouteTable& routes, const Request& part) {
  if (const auto problem = CheckFraming(part, part.path.size() + part.query.size())) {
    return ToReply(*problem, part);
  }
  const Result<Match> match = routes.Find(part.method, part.path);
  if (!match) return ToReply(match.error(), part);
  if (!match->route || !match->route->handler) {
    return Refused(part, "not-found", "a batch has nothing to read at this path");
  }
  if (auto refusal = CheckRight(part, *match)) return std::move(*refusal);
  Reply reply = CallRoute(*match, part);
  const bool json = reply.content_type.find("json") != std::string::npos;
  if (json && !reply.body.empty()) return reply;
  return Refused(part, "bad-request", "a batch takes only calls that answer with JSON");
}

void Append(const Reply& reply, std::string& answers) {
  OpenObject(answers, Format(R"({{"status":{}}})", reply.status));
  const auto wait =
      std::ranges::find(reply.headers, "Retry-After", &std::pair<std::string, std::string>::first);
  if (wait != reply.headers.end()) answers += Format(R"(,"retry_after":{})", wait->second);
  answers += R"(,"body":)";
  answers += reply.body;
  answers += '}';
}

bool IsTarget(const Json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  const auto sent = [](char byte) { return byte > 0x20 && byte < 0x7f && byte != '#'; };
  return text.starts_with('/') && std::ranges::all_of(text, sent);
}

Reply AnswerBatch(const RouteTable& routes, const Clock& clock, const Request& request) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);
  Body body(request);
  body.AllowOnly(body.root(), "", {"get"});
  const Json targets = body.Array(body.root(), "", "get", kMostCalls);
  if (targets.empty() && body.faults().empty()) body.Note("/get", "names no call");
  for (std::size_t at = 0; at < targets.size(); ++at) {
    if (IsTarget(targets[at])) continue;
    body.Note(Format("/get/{}", at), "is not a path below /api/v1, such as \"/jobs?limit=20\"");
  }
  if (!body.faults().empty()) return body.Refusal(request);

  const SteadyTime began = clock.Steady();
  std::string answers = R"({"answers":[)";
  for (const Json& target : targets) {
    const Request part = PartOf(request, target.get_ref<const std::string&>());
    const bool full = answers.size() > kMostAnswered || clock.Steady() - began > kLongest;
    Append(full ? Refused(part, "batch-full", "ask for this by itself: the batch has much already")
                : AnswerPart(routes, part),
           answers);
  }
  answers += "]}";
  return {.body = std::move(answers), .headers = {}};
}

}  // namespace

std::vector<Route> BatchRoutes(const Clock& clock, std::vector<Route> others) {
  const auto routes = std::make_shared<const RouteTable>(std::move(others));
  return {Bulk({.method = "POST",
                .pattern = "/api/v1/batch",
                .handler =
                    [&clock, routes](const Request& request, const PathParameters&) {
                      return AnswerBatch(*routes, clock, request);
                    },
                .right = Right::kSignedIn})};
}

}  // namespace stepscope
