#include "server/front/front.h"

#include <atomic>
#include <exception>
#include <memory>
#include <utility>

#include "core/base/log.h"
#include "core/base/peer_address.h"
#include "server/access/senders.h"
#include "server/edge/body_file.h"
#include "server/front/admission.h"
#include "server/front/credentials.h"
#include "server/front/finish.h"

namespace stepscope {
namespace {

Reply MethodNotAllowed(const Request& head, const Match& match) {
  std::string allowed;
  for (const std::string_view method : match.methods) {
    allowed += (allowed.empty() ? "" : ", ") + std::string(method);
  }
  Reply reply =
      ToReply(Problem{"method-not-allowed", Format("this path takes {}", allowed), {}, {}}, head);
  reply.headers.emplace_back("Allow", allowed);
  return reply;
}

std::optional<Problem> CheckRequest(Request& head, const FrontSettings& settings) {
  std::optional<Problem> problem = CheckFraming(head, head.path.size() + head.query.size());
  if (!problem) problem = ResolveProxy(settings.proxies, head);
  if (!problem) problem = CheckHost(head, settings.hosts);
  return problem;
}

// Whether a page of ours asks. Any program can name the site that it asks from, so only those
// credentials count that a browser adds by itself; bad ones are refused when they are checked.
bool IsPage(const Request& head, const Access& access) {
  if (head.Header("sec-fetch-site") != "same-origin") return false;
  if (head.caller) return head.caller->how == Caller::kProxy;
  const Credentials shown = CredentialsOf(head);
  if (shown.token) return false;
  return shown.session || (access.open() && IsThisMachine(head.peer));
}

// A call of the page is for people, whichever it is.
Traffic TrafficOf(const Request& head, const Route& route, const Access& access) {
  const bool people = route.traffic == Traffic::kBulk && IsPage(head, access);
  return people ? Traffic::kPeople : route.traffic;
}

Reply StorageLow(const Request& head, std::string detail) {
  return ToReply(Problem{"storage-low", std::move(detail), {}, {}}, head);
}

std::optional<Reply> CheckPressure(const Request& head, const Route& route,
                                   const FrontSettings& settings, const Access& access) {
  PressureGauge* const gauge = settings.pressure;
  if (!gauge || !gauge->Refuses(TrafficOf(head, route, access))) return std::nullopt;
  const auto [pressure, shortage] = gauge->judgement();
  if (shortage == Shortage::kStorage && route.traffic == Traffic::kFrames) {
    return StorageLow(head, "there is no room; agents keep their data");
  }
  if (pressure == Pressure::kChanges && route.traffic != Traffic::kBulk) {
    return StorageLow(head, "the disk is nearly full: what makes room is done, and nothing else");
  }
  std::string detail = Format("the service is short ({}); try again", ToText(shortage));
  if (route.traffic == Traffic::kFrames) return Busy(head, std::move(detail));
  Reply reply = ToReply(Problem{"too-many-requests", std::move(detail), {}, {}}, head);
  reply.headers.emplace_back("Retry-After", "5");
  return reply;
}

// Samples wait for the commit of a group, and the sender of frames may have to be asked of a
// database that is slow: pages must find a worker meanwhile.
Lane LaneOf(const Route& route) {
  const bool waits = route.traffic == Traffic::kFrames || route.traffic == Traffic::kSamples;
  return waits ? Lane::kMost : Lane::kAll;
}

// The request of an answer that comes later.
struct Asked {
  Asked(Request request, std::size_t bytes, SteadyTime now)
      : head(std::move(request)), body_bytes(bytes), since(now) {}

  Request head;  // without the body; taken back when nobody was given it to keep
  const std::size_t body_bytes;
  const SteadyTime since;
  std::atomic_flag answered;
};

// A reply that comes when the edge has given its own is not counted, nor is a second one.
Respond Completing(std::shared_ptr<Asked> asked, const Respond& respond, Duration within,
                   std::shared_ptr<HttpCounters> counters, const Clock& clock) {
  return [asked = std::move(asked), respond, within, counters = std::move(counters),
          &clock](Reply reply) {
    const Duration took = clock.Steady() - asked->since;
    const bool counts = !asked->answered.test_and_set() && (within == 0ns || took < within);
    Finish(asked->head, clock.Now(), took, reply);
    if (counts) counters->Count(asked->head, asked->body_bytes, reply, took);
    respond(std::move(reply));
  };
}

bool HasFallback(const Request& head) {
  return (head.method == "GET" || head.method == "HEAD") && !head.path.starts_with("/api/");
}

}  // namespace

Front::Front(std::vector<Route> routes, Handler fallback, FrontSettings settings, Access& access,
             const Clock& clock)
    : routes_(std::move(routes)),
      fallback_(std::move(fallback)),
      settings_(std::move(settings)),
      access_(access),
      clock_(clock) {}

EdgeHandlers Front::Handlers() {
  return {.check_head = [this](Request& head) { return CheckHead(head); },
          .ask = [this](Request& head) { return Ask(head); },
          .answer = [this](Request& request, const Respond& respond,
                           MayWait may_wait) { return Answer(request, respond, may_wait); },
          .fault =
              [this](const Request& request, std::string code, std::string detail) {
                return AnswerFault(request, std::move(code), std::move(detail));
              }};
}

HeadVerdict Front::CheckHead(Request& head) {
  head.caller.reset();
  if (const auto problem = CheckRequest(head, settings_)) {
    return Refuse(head, ToReply(*problem, head));
  }
  return Judge(head, MayWait::kNo);
}

HeadVerdict Front::Ask(Request& head) {
  return Judge(head, MayWait::kYes);
}

HeadVerdict Front::Judge(Request& head, MayWait may_wait) {
  const Result<Match> match = routes_.Find(head.method, head.path);
  if (!match) return Refuse(head, ToReply(match.error(), head));
  if (!match->route) {
    if (!match->methods.empty()) return Refuse(head, MethodNotAllowed(head, *match));
    if (fallback_ && HasFallback(head)) return {};
    return Refuse(head,
                  ToReply(Problem{"not-found", "there is nothing at this path", {}, {}}, head));
  }
  if (auto refusal = CheckPressure(head, *match->route, settings_, access_)) {
    return Refuse(head, std::move(*refusal));
  }
  Admission admission = Admit(access_, head, *match, may_wait);
  const Lane lane = LaneOf(*match->route);
  if (admission.kind == Admission::kAsk) return {.kind = HeadVerdict::kAsk, .lane = lane};
  if (admission.kind == Admission::kRefuse) return Refuse(head, std::move(admission.refusal));
  if (const auto problem = CheckBody(head, *match->route)) {
    return Refuse(head, ToReply(*problem, head));
  }
  return {.most_body = match->route->most_body,
          .to_file = match->route->body_to_file,
          .whose = match->route->body_to_file && head.caller ? MakerOf(*head.caller) : "",
          .lane = lane,
          .at_once = match->route->at_once,
          .answer_within = match->route->answer_within};
}

HeadVerdict Front::Refuse(const Request& head, Reply refusal) {
  Finish(head, clock_.Now(), Duration::zero(), refusal);
  counters_->Count(head, 0, refusal, Duration::zero());
  return {.kind = HeadVerdict::kRefuse, .refusal = std::move(refusal)};
}

Reply Front::Call(const Match& match, const Request& request) const {
  if (!match.route) return fallback_(request);
  return match.route->handler(request, match.parameters);
}

bool Front::Answer(Request& request, const Respond& respond, MayWait may_wait) {
  const SteadyTime start = clock_.Steady();
  const Result<Match> match = routes_.Find(request.method, request.path);
  const Route* const route = match ? match->route : nullptr;
  if (may_wait == MayWait::kNo && !(route && route->at_once)) return false;
  if (route && route->later) return AnswerLater(*route, request, respond, may_wait);
  Reply reply;
  try {
    reply = match ? Call(*match, request) : ToReply(match.error(), request);
  } catch (const std::exception& fault) {  // from a library, or out of memory
    reply = ToReply(Internal(fault.what()), request);
  }
  const Duration took = clock_.Steady() - start;
  Finish(request, clock_.Now(), took, reply);
  counters_->Count(request, BodySize(request), reply, took);
  respond(std::move(reply));
  return true;
}

bool Front::AnswerLater(const Route& route, Request& request, const Respond& respond,
                        MayWait may_wait) {
  std::string body = std::move(request.body);
  const auto asked = std::make_shared<Asked>(std::move(request), body.size(), clock_.Steady());
  const Respond complete = Completing(asked, respond, route.answer_within, counters_, clock_);
  const std::shared_ptr<const Request> head(asked, &asked->head);
  try {
    if (route.later(head, body, complete, may_wait)) return true;
  } catch (const std::exception& fault) {
    complete(ToReply(Internal(fault.what()), *head));
    return true;
  }
  request = std::move(asked->head);
  request.body = std::move(body);
  return false;
}

Reply Front::AnswerFault(const Request& request, std::string code, std::string detail) {
  const bool busy = code == "busy";  // a code of the edge, which adds Retry-After itself
  if (busy) code = "unavailable";
  Reply reply = ToReply(Problem{std::move(code), std::move(detail), {}, {}}, request);
  if (busy) std::erase_if(reply.headers, [](auto& one) { return one.first == "Retry-After"; });
  Finish(request, clock_.Now(), Duration::zero(), reply);
  counters_->Count(request, request.body.size(), reply, Duration::zero());
  return reply;
}

void HttpCounters::Count(const Request& head, std::size_t body_bytes, const Reply& reply,
                         Duration took) {
  answers_[static_cast<std::size_t>(reply.status / 100) % answers_.size()]++;
  const auto took_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  answered_us_ += static_cast<std::uint64_t>(took_us);
  body_bytes_ += body_bytes;
  if (!Logs(LogLevel::kDebug)) return;
  LogDebug("{} {} {} -> {} in {} us, request {}", head.peer, Printable(head.method, 16),
           Printable(head.path), reply.status, took_us, head.request_id);
}

HttpFigures HttpCounters::figures() const {
  HttpFigures figures;
  for (std::size_t at = 0; at < answers_.size(); ++at) figures.answers[at] = answers_[at];
  figures.answered_us = answered_us_;
  figures.body_bytes = body_bytes_;
  return figures;
}

}  // namespace stepscope
