#include "server/front/front.h"

#include <exception>

#include "core/base/log.h"
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

std::optional<Problem> CheckRequest(const Request& head, const HostNames& hosts) {
  std::optional<Problem> problem = CheckFraming(head, head.path.size() + head.query.size());
  if (!problem) problem = CheckHost(head, hosts);
  if (!problem) problem = CheckOrigin(head);
  return problem;
}

bool HasFallback(const Request& head) {
  return (head.method == "GET" || head.method == "HEAD") && !head.path.starts_with("/api/");
}

}  // namespace

Front::Front(std::vector<Route> routes, Handler fallback, HostNames hosts, const Clock& clock)
    : routes_(std::move(routes)),
      fallback_(std::move(fallback)),
      hosts_(std::move(hosts)),
      clock_(clock) {}

EdgeHandlers Front::Handlers() {
  return {.check_head = [this](Request& head) { return CheckHead(head); },
          .ask = [this](Request& head) { return CheckHead(head); },
          .answer = [this](const Request& request) { return Answer(request); },
          .fault =
              [this](const Request& request, std::string code, std::string detail) {
                return AnswerFault(request, std::move(code), std::move(detail));
              }};
}

HeadVerdict Front::CheckHead(Request& head) {
  HeadVerdict verdict;
  std::optional<Reply> refusal = Refuse(head, verdict.most_body);
  if (!refusal) return verdict;
  Finish(head, Duration::zero(), *refusal);
  Count(head, *refusal, Duration::zero());
  return {.kind = HeadVerdict::kRefuse, .refusal = std::move(*refusal)};
}

std::optional<Reply> Front::Refuse(const Request& head, std::size_t& most_body) const {
  if (const auto problem = CheckRequest(head, hosts_)) return ToReply(*problem, head);
  const Result<Match> match = FindRoute(routes_, head.method, head.path);
  if (!match) return ToReply(match.error(), head);
  if (match->route) {
    most_body = match->route->most_body;
    const auto problem = CheckBody(head, *match->route);
    return problem ? std::optional(ToReply(*problem, head)) : std::nullopt;
  }
  if (!match->methods.empty()) return MethodNotAllowed(head, *match);
  if (fallback_ && HasFallback(head)) return std::nullopt;
  return ToReply(Problem{"not-found", "there is nothing at this path", {}, {}}, head);
}

Reply Front::Call(const Request& request) const {
  const Result<Match> match = FindRoute(routes_, request.method, request.path);
  if (!match) return ToReply(match.error(), request);
  if (!match->route) return fallback_(request);
  return match->route->handler(request, match->parameters);
}

Reply Front::Answer(const Request& request) {
  const SteadyTime start = clock_.Steady();
  Reply reply;
  try {
    reply = Call(request);
  } catch (const std::exception& fault) {  // of a library, or out of memory
    reply = ToReply(Internal(fault.what()), request);
  }
  const Duration took = clock_.Steady() - start;
  Finish(request, took, reply);
  Count(request, reply, took);
  return reply;
}

Reply Front::AnswerFault(const Request& request, std::string code, std::string detail) {
  Reply reply = ToReply(Problem{std::move(code), std::move(detail), {}, {}}, request);
  Finish(request, Duration::zero(), reply);
  Count(request, reply, Duration::zero());
  return reply;
}

void Front::Count(const Request& request, const Reply& reply, Duration took) {
  answers_[static_cast<std::size_t>(reply.status / 100) % answers_.size()]++;
  const auto took_us = std::chrono::duration_cast<std::chrono::microseconds>(took).count();
  answered_us_ += static_cast<std::uint64_t>(took_us);
  body_bytes_ += request.body.size();
  LogDebug("{} {} {} -> {} in {} us, request {}", request.peer, Printable(request.method, 16),
           Printable(request.path), reply.status, took_us, request.request_id);
}

HttpFigures Front::figures() const {
  HttpFigures figures;
  for (std::size_t at = 0; at < answers_.size(); ++at) figures.answers[at] = answers_[at];
  figures.answered_us = answered_us_;
  figures.body_bytes = body_bytes_;
  return figures;
}

}  // namespace stepscope
