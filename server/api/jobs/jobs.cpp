// POST /jobs and GET /jobs.

#include <algorithm>

#include "core/base/nearest.h"
#include "core/base/text.h"
#include "rules/catalog/catalog.h"
#include "server/access/scope.h"
#include "server/api/http/answer.h"
#include "server/api/http/csv.h"
#include "server/api/http/page.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/jobs/job_description.h"
#include "server/api/jobs/job_summary.h"
#include "server/api/jobs/new_job.h"
#include "server/front/denial.h"
#include "server/front/problem.h"
#include "server/store/jobs/interval_requests.h"
#include "server/store/jobs/job_list.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/rules/create_job.h"

namespace stepscope {
namespace {

constexpr std::string_view kStatuses[] = {"InProgress", "Completed", "Failed", "Stopping",
                                          "Stopped"};
constexpr std::string_view kRuleStatuses[] = {"InProgress", "NoIssuesFound", "IssuesFound",
                                              "Error",      "Stopping",      "Stopped"};
constexpr std::string_view kVerdicts[] = {"issues", "none", "unknown"};
constexpr std::string_view kSorts[] = {"created", "-created", "name",      "-name",  "status",
                                       "-status", "duration", "-duration", "issues", "-issues"};
constexpr std::string_view kFormats[] = {"json", "csv"};
constexpr QueryParameter kJobsQuery[] = {
    {"name_contains"},
    {"status", QueryParameter::kWords, 1, 5, kStatuses},
    {"group"},
    {"rule"},
    {"rule_status", QueryParameter::kWords, 1, 6, kRuleStatuses},
    {"verdict", QueryParameter::kWords, 1, 3, kVerdicts},
    {"created_after", QueryParameter::kTime},
    {"created_before", QueryParameter::kTime},
    {"sort", QueryParameter::kWord, 1, 1, kSorts},
    {"format", QueryParameter::kWord, 1, 1, kFormats},
    kCursorParameter,
    kLimitParameter,
};

// Time that the summaries of one page may take; the rest of them come with the next call.
constexpr Duration kSummariesWithin = 1s;

JobFilter ToFilter(const Query& query, const Caller& caller) {
  JobFilter filter;
  filter.scopes = caller.scopes;
  filter.name_contains = query.Text("name_contains");
  filter.group = query.Text("group");
  filter.rule = query.Text("rule");
  for (const std::string& word : query.Texts("status")) {
    filter.statuses.push_back(ParseJobStatus(word).value());
  }
  for (const std::string& word : query.Texts("rule_status")) {
    filter.rule_statuses.push_back(ParseRuleStatus(word).value());
  }
  for (const std::string& word : query.Texts("verdict")) {
    filter.verdicts.push_back(ParseJobVerdict(word).value());
  }
  filter.created_after_us = query.MaybeTimeUs("created_after");
  if (filter.created_after_us) --*filter.created_after_us;  // the store's is exclusive
  filter.created_before_us = query.MaybeTimeUs("created_before");
  if (query.Has("sort")) filter.sort = query.Text("sort");
  filter.after = query.Text("cursor");
  filter.limit = static_cast<int>(query.Int("limit", 50));
  return filter;
}

OrderedJson ToJson(const std::optional<double>& value) {
  return value ? OrderedJson(*value) : OrderedJson(nullptr);
}

OrderedJson ToJson(const Sparkline& points) {
  OrderedJson json = OrderedJson::array();
  for (const auto& point : points) json.push_back(ToJson(point));
  return json;
}

OrderedJson DurationOf(const JobRow& job, std::int64_t now_us) {
  if (!job.started_us) return nullptr;
  const std::int64_t end_us = job.ended_us.value_or(now_us);
  return Rounded(double(std::max<std::int64_t>(end_us - *job.started_us, 0)) / 1e6, 3);
}

OrderedJson ToJson(const JobListItem& item, const JobSummary& summary, std::int64_t now_us) {
  OrderedJson json = {{"name", item.job.name},
                      {"group", item.job.group},
                      {"status", ToText(item.job.status)},
                      {"secondary_status", item.job.secondary_status}};
  PutTime(json, "created", item.job.created_us);
  PutTime(json, "started", item.job.started_us);
  PutTime(json, "ended", item.job.ended_us);
  json["duration_seconds"] = DurationOf(item.job, now_us);
  json["nodes"] = item.nodes;
  json["gpus"] = item.gpus;
  json["mean_gpu_util_percent"] = ToJson(summary.mean_gpu_percent);
  json["gpu_util_sparkline"] = ToJson(summary.gpu);
  json["mean_cpu_util_percent"] = ToJson(summary.mean_cpu_percent);
  json["cpu_util_sparkline"] = ToJson(summary.cpu);
  json["median_step_seconds"] = ToJson(summary.median_step_seconds);
  json["verdict"] = ToText(item.verdict);
  json["rules_in_trouble"] = item.rules_in_trouble;
  return json;
}

Result<JobSummary> SummaryWithin(const Api& api, Connection& connection, const JobRow& job,
                                 SteadyTime until) {
  if (api.clock.Steady() < until) return api.summaries.Of(connection, job);
  return api.summaries.Remembered(job.job_id).value_or(JobSummary{});
}

// Whether a rule of this name is in the catalog, or some job has one.
Result<bool> KnowsRule(Connection& connection, const std::string& rule) {
  if (rule.empty() || FindRule(rule) != nullptr) return true;
  return AnyJobHasRule(connection, rule);
}

Reply NoSuchRule(const Request& request, const std::string& rule) {
  std::vector<std::string_view> known;
  for (const RuleType& each : Catalog()) known.push_back(each.name);
  return Query::Refuse(request, "rule",
                       Format("no job has a rule '{}'{}", Printable(rule, 64),
                              DidYouMean(NearestWords(known, rule))));
}

Result<Reply> ListAllJobs(const Api& api, Connection& connection, const Request& request,
                          const PathParameters&) {
  const Query query(request, kJobsQuery);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<bool> known = KnowsRule(connection, query.Text("rule"));
  if (!known) return known.error();
  if (!*known) return NoSuchRule(request, query.Text("rule"));

  JobFilter filter = ToFilter(query, *request.caller);
  filter.now_us = ToMicros(api.clock.Now());
  const Result<JobPage> page = ListJobs(connection, filter);
  if (!page) return PageFault(request, page.error());
  const SteadyTime until = api.clock.Steady() + kSummariesWithin;
  OrderedJson items = OrderedJson::array();
  for (const JobListItem& item : page->items) {
    const Result<JobSummary> summary = SummaryWithin(api, connection, item.job, until);
    if (!summary) return summary.error();
    items.push_back(ToJson(item, *summary, ToMicros(api.clock.Now())));
  }

  if (WantsCsv(request, query.Text("format"))) {
    return CsvPage(items, "jobs.csv", page->next);
  }
  return JsonReply({{"items", items}, {"next", NullIfEmpty(page->next)}, {"total", page->total}});
}

// An interval that was not asked for may have come from the job's first agent.
bool IsSame(const JobRow& existing, const NewJob& asked) {
  Json configuration = existing.configuration;
  if (!asked.configuration.contains("interval_ms")) configuration.erase("interval_ms");
  return existing.group == asked.group && configuration == asked.configuration;
}

Result<Reply> CreateOneJob(const Api& api, Connection& connection, const Request& request,
                           const PathParameters&) {
  Query query(request, {});
  Body body(request);
  NewJob asked = ReadNewJob(body, api.default_rules);

  if (!query.faults().empty()) return query.Refusal(request);
  if (!body.faults().empty()) return body.Refusal(request);

  if (!Covers(request.caller->scopes, asked.name)) {
    return Forbid(request, Format("the token is not for job {}", asked.name));
  }
  const auto refused = api.senders.CheckNewJob(connection, *request.caller, asked.name);
  if (!refused) return refused.error();
  if (*refused) return ToReply(**refused, request);
  asked.created_by = MakerOf(*request.caller);
  const Result<CreatedJob> created = CreateJob(connection, asked, ToMicros(api.clock.Now()));
  if (!created) return created.error();
  const JobRow* job = &created->job;
  if (!IsSame(*job, asked)) {
    const std::string detail =
        Format("job {} was created at {} with another group or configuration; choose another name",
               job->name, ToRfc3339(FromMicros(job->created_us)));
    return ToReply(Problem{"job-exists", detail, {}, {}}, request);
  }

  Json configuration = job->configuration;
  configuration["interval_ms"] = IntervalMs(configuration);
  OrderedJson json = {{"name", job->name}, {"group", job->group}, {"configuration", configuration}};
  PutTime(json, "created", job->created_us);
  json["url"] = JobUrl(api.public_url, job->name);
  Reply reply = JsonReply(json, 201);
  reply.headers.emplace_back("Location", "/api/v1/jobs/" + job->name);
  return reply;
}

}  // namespace

std::vector<Route> JobRoutes(const Api& api) {
  return {ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs", ListAllJobs),
          ForChange(api, Right::kSend, "POST", "/api/v1/jobs", "job.create", CreateOneJob),
          ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}", DescribeJob)};
}

}  // namespace stepscope
