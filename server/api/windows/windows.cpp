// /jobs/{name}/windows: steps of which every span of an annotation is stored, and these spans.

#include "server/store/jobs/windows.h"
#include "core/base/text.h"
#include "core/wire/mark_message.h"
#include "server/api/http/answer.h"
#include "server/api/http/body.h"
#include "server/api/http/find_job.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/windows/judge_again.h"
#include "server/api/windows/window_json.h"
#include "server/evaluate/step_pulse.h"
#include "server/store/annotations/span_blocks.h"
#include "server/store/jobs/window_costs.h"

namespace stepscope {
namespace {

constexpr std::string_view kAnnotations = "annotations", kOperators = "operators";
constexpr QueryParameter kListQuery[] = {kCursorParameter, kLimitParameter};
constexpr QueryParameter kSpanQuery[] = {
    {"rank", QueryParameter::kInteger, 0, 1'048'575},
    {"annotation", QueryParameter::kText, 1, kMaxMarkNameBytes},
    kCursorParameter,
    {"limit", QueryParameter::kInteger, 1, 5'000},
};

double SecondsOfNs(std::int64_t ns) {
  return Rounded(double(ns) / 1e9, 9);
}

OrderedJson ToJson(const SpanRow& span) {
  OrderedJson json = {{"rank", span.rank},
                      {"process", span.process},
                      {"thread", span.thread},
                      {"name", span.name},
                      {"step", span.step}};
  PutTime(json, "start", span.start_ns / 1'000);
  json["duration_seconds"] = SecondsOfNs(span.duration_ns);
  return json;
}

// The first step that agents can still be asked for, by the rank with the lowest number.
Result<std::int64_t> NextStep(Connection& connection, const JobRow& job, Time now) {
  const auto rank = FirstRank(connection, job.job_id);
  if (!rank) return rank.error();
  StepPulse pulse;
  if (*rank) {
    const auto read = ReadPulse(connection, job.job_id, **rank, now);
    if (!read) return read.error();
    pulse = *read;
  }
  if (pulse.count < kLeastKnown) {
    return Conflict(Format("{} of {} steps came within an hour: say at which start_step to begin",
                           pulse.count, kLeastKnown));
  }
  return EarliestStep(pulse, now);
}

Result<Reply> AskForOneWindow(const Api& api, Connection& connection, const Request& request,
                              const PathParameters& path) {
  const Query query(request, {});
  Body body(request);
  const Json& root = body.root();
  if (request.body.empty()) body.Note("", "is missing; {} asks for the next step");
  body.AllowOnly(root, "", {"what", "start_step", "num_steps", "shapes"});
  std::int64_t start_step = body.Integer(root, "", "start_step", 0, kMostStep, -1);
  const std::int64_t num_steps = body.Integer(root, "", "num_steps", 1, kMostWindowSteps, 1);
  const std::string what = root.contains("what") ? body.Text(root, "", "what", 63) : "annotations";
  const bool shapes = body.Bool(root, "", "shapes", false);
  if (!query.faults().empty()) return query.Refusal(request);
  const bool operators = what == kOperators;
  if (body.faults().empty() && shapes && !operators) {
    body.Note("/shapes", "are of operators: ask for them with what: operators");
  }
  if (body.faults().empty() && what != kAnnotations && !operators) {
    body.Note("/what", "must be annotations or operators");
  }
  if (body.faults().empty() && operators && num_steps > kMostOperatorSteps) {
    body.Note("/num_steps", Format("must be 1 to {} for operators", kMostOperatorSteps));
  }
  if (!body.faults().empty()) return body.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Time now = api.clock.Now();
  const std::int64_t now_us = ToMicros(now);
  if (start_step < 0) {
    const auto next = NextStep(connection, *job, now);
    if (!next) return next.error();
    start_step = *next;
  }
  const auto asked =
      AskForWindow(connection, job->job_id, {start_step, num_steps, operators, shapes}, now_us);
  if (!asked) return asked.error();
  const auto nodes = ListNodes(connection, job->job_id, kWindowFacts);
  if (!nodes) return nodes.error();

  Reply reply =
      JsonReply(WindowTeller{*job, *nodes, now_us}(asked->window), asked->fresh ? 201 : 200);
  if (!asked->fresh) return reply;
  reply.headers.emplace_back(
      "Location", Format("/api/v1/jobs/{}/windows/{}", job->name, asked->window.window_id));
  return reply;
}

Result<Reply> ListJobWindows(const Api& api, Connection& connection, const Request& request,
                             const PathParameters& path) {
  const Query query(request, kListQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<WindowPage> page = ListWindows(connection, job->job_id, query.Text("cursor"),
                                              static_cast<int>(query.Int("limit", 50)));
  if (!page) return PageFault(request, page.error());
  const auto nodes = ListNodes(connection, job->job_id, kWindowFacts);
  if (!nodes) return nodes.error();
  WindowTeller tell{*job, *nodes, ToMicros(api.clock.Now())};
  if (!page->items.empty()) {
    const WindowRange listed{page->items.back().window_id, page->items.front().window_id};
    const Status added = AddTraces(connection, listed, kMostListedTraces, tell);
    if (!added) return added.error();
  }
  const auto note = ReadWindowNote(connection, job->job_id);
  if (!note) return note.error();
  OrderedJson json = PageJson(*page, tell);
  json["automatic"] = {{"allowed", !HasEnded(job->status) && AllowsAutomatic(*nodes)},
                       {"reason", NullIfEmpty(*note)}};
  return JobReply(*job, json);
}

Result<Reply> ReadOneWindow(const Api& api, Connection& connection, const Request& request,
                            const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<WindowRow> window = FindNamedWindow(connection, job->job_id, path);
  if (!window) return window.error();
  const auto nodes = ListNodes(connection, job->job_id, kWindowFacts);
  if (!nodes) return nodes.error();
  WindowTeller tell{*job, *nodes, ToMicros(api.clock.Now())};
  const WindowRange one{window->window_id, window->window_id};
  if (Status added = AddTraces(connection, one, kMostToldTraces, tell); !added) {
    return added.error();
  }
  return JobReply(*job, tell(*window));
}

Result<Reply> DeleteOneWindow(const Api& api, Connection& connection, const Request& request,
                              const PathParameters& path) {
  const Query query(request, {});
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<WindowRow> window = FindNamedWindow(connection, job->job_id, path);
  if (!window) return window.error();
  const auto nodes = ListNodes(connection, job->job_id, kWindowFacts);
  if (!nodes) return nodes.error();
  const WindowState state = WindowStateOf(*window, *job, *nodes, ToMicros(api.clock.Now()));
  if (state.status == WindowStatus::kOpen) {
    return Conflict(Format("window {} is open; delete it when it is over", window->window_id));
  }
  const Status deleted = DeleteWindow(connection, job->job_id, window->window_id);
  if (!deleted) return deleted.error();
  if (const Status due = JudgeAgain(connection, *job); !due) return due.error();
  return Reply{.status = 204, .content_type = "", .body = "", .headers = {}};
}

Result<Reply> ReadWindowSpans(const Api&, Connection& connection, const Request& request,
                              const PathParameters& path) {
  const Query query(request, kSpanQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<WindowRow> window = FindNamedWindow(connection, job->job_id, path);
  if (!window) return window.error();
  const Result<SpanPage> page =
      ReadSpans(connection, {.job_id = job->job_id,
                             .window_id = window->window_id,
                             .rank = query.MaybeInt("rank"),
                             .name = query.Text("annotation"),
                             .after = query.Text("cursor"),
                             .limit = static_cast<std::size_t>(query.Int("limit", 500))});
  if (!page) return PageFault(request, page.error());
  OrderedJson items = OrderedJson::array();
  for (const SpanRow& span : page->items) items.push_back(ToJson(span));
  return JobReply(*job, {{"items", std::move(items)}, {"next", NullIfEmpty(page->next)}});
}

}  // namespace

std::vector<Route> WindowRoutes(const Api& api) {
  const char* const list = "/api/v1/jobs/{name}/windows";
  const char* const one = "/api/v1/jobs/{name}/windows/{id}";
  const char* const spans = "/api/v1/jobs/{name}/windows/{id}/spans";
  return {ForDatabase(api, Right::kRead, "GET", list, ListJobWindows),
          ForChange(api, Right::kChange, "POST", list, "window.ask", AskForOneWindow),
          ForDatabase(api, Right::kRead, "GET", one, ReadOneWindow),
          ForChange(api, Right::kChange, "DELETE", one, "window.delete", DeleteOneWindow),
          Bulk(ForDatabase(api, Right::kRead, "GET", spans, ReadWindowSpans))};
}

}  // namespace stepscope
