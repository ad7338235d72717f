// GET /jobs/{name}/steps: a summary for each rank, or every step of one.

#include <algorithm>

#include "core/base/text.h"
#include "server/api/http/answer.h"
#include "server/api/http/csv.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/report/measure/rank_summaries.h"
#include "server/store/steps/steps.h"

namespace stepscope {
namespace {

constexpr std::int64_t kMostRanks = 256;                              // in one answer
constexpr std::int64_t kLatestStartUs = (std::int64_t{1} << 53) - 1;  // exact in JSON
constexpr std::string_view kFormats[] = {"summary", "rows", "csv"};
constexpr QueryParameter kStepQuery[] = {
    {"rank", QueryParameter::kInteger, 0, 1'048'575},
    {"bins", QueryParameter::kInteger, 1, 500},
    {"format", QueryParameter::kWord, 1, 1, kFormats},
    kCursorParameter,
    {"limit", QueryParameter::kInteger, 1, 5'000},
    {"from_us", QueryParameter::kInteger, 0, kLatestStartUs},
    {"to_us", QueryParameter::kInteger, 0, kLatestStartUs},
    {"most", QueryParameter::kInteger, 1, kMostRanks},
};

double Seconds(std::int64_t ns) {
  return Rounded(double(ns) / 1e9, 9);
}

Result<Reply> AnswerSummaries(Connection& connection, const Request& request, const JobRow& job,
                              const Query& query, const std::vector<RankOnNode>& ranks) {
  const std::vector<RankOnNode> shown =
      EvenlyChosen(ranks, static_cast<std::size_t>(query.Int("most", INT64_MAX)));
  if (shown.size() > std::size_t{kMostRanks}) {
    return Query::Refuse(request, "rank",
                         Format("the job has {} ranks; choose one, or give most", ranks.size()));
  }
  OrderedJson list = OrderedJson::array();
  const auto bins = static_cast<std::size_t>(query.Int("bins", 50));
  const Status read =
      ForEachSummary(connection, job.job_id, shown, bins,
                     [&](const RankSummary& summary) { list.push_back(ToJson(summary)); });
  if (!read) return read.error();
  return JobReply(job, {{"ranks", std::move(list)}, {"left_out", ranks.size() - shown.size()}});
}

// Times by the GPU's clock; null where that is not known.
OrderedJson GpuJson(const Step& step) {
  if (!step.gpu_idle) return nullptr;
  OrderedJson phases = OrderedJson::object();
  for (std::size_t i = 0; i < kPhaseCount; ++i) {
    const std::int64_t ns = step.gpu_phases[i].count();
    if (ns != 0) phases[std::string(ToText(static_cast<Phase>(i)))] = Seconds(ns);
  }
  return {{"idle_seconds", Seconds(step.gpu_idle->count())}, {"phases_seconds", std::move(phases)}};
}

OrderedJson ToJson(const Step& step) {
  OrderedJson json = {{"step", step.number}};
  PutTime(json, "start", ToMicros(step.start));
  json["wall_seconds"] = Seconds(step.wall.count());
  json["phases_seconds"] = OrderedJson::object();
  for (std::size_t phase = 0; phase < kPhaseCount; ++phase) {
    if (step.phases[phase].count() == 0) continue;
    const std::string name(ToText(static_cast<Phase>(phase)));
    json["phases_seconds"][name] = Seconds(step.phases[phase].count());
  }
  json["evaluation_seconds"] = Seconds(step.evaluation.count());
  json["gpu"] = GpuJson(step);
  return json;
}

// Every step as a row for spreadsheets.
bool AsCsv(const Request& request, const Query& query) {
  return WantsCsv(request, query.Text("format"));
}

// The cursor is the start of the last step that was shown.
Result<std::int64_t> ReadCursor(const Query& query) {
  if (!query.Has("cursor")) return 0;
  const Result<std::string> plain = FromBase64Url(query.Text("cursor"));
  if (!plain) return plain.error();
  return ParseInt(*plain, "cursor");
}

// Reads so many steps, or all there are. One call of the store may give fewer: it limits what it
// decodes.
Result<std::vector<Step>> ReadPage(Connection& connection, StepQuery query, std::size_t rows) {
  std::vector<Step> page;
  while (page.size() < rows) {
    query.most_rows = rows - page.size();
    const Result<std::vector<Step>> steps = ReadSteps(connection, query);
    if (!steps) return steps.error();
    if (steps->empty()) break;
    page.insert(page.end(), steps->begin(), steps->end());
    query.after_us = ToMicros(page.back().start);
  }
  return page;
}

Result<Reply> AnswerRows(Connection& connection, const Request& request, const JobRow& job,
                         const Query& query, const std::vector<RankOnNode>& ranks) {
  if (ranks.size() != 1) {
    return Query::Refuse(request, "rank", Format("the job has {} ranks; choose one", ranks.size()));
  }
  const Result<std::int64_t> cursor_us = ReadCursor(query);
  if (!cursor_us) return Query::Refuse(request, "cursor", "is not the cursor of such a list");
  const std::int64_t after_us = std::max(*cursor_us, query.Int("from_us", 0) - 1);
  const auto limit = static_cast<std::size_t>(query.Int("limit", 500));
  const StepQuery behind = {.job_id = job.job_id, .rank = ranks.front().rank, .after_us = after_us};
  Result<std::vector<Step>> steps = ReadPage(connection, behind, limit + 1);
  if (!steps) return steps.error();
  const std::int64_t to_us = query.Int("to_us", INT64_MAX);
  std::erase_if(*steps, [&](const Step& step) { return ToMicros(step.start) > to_us; });
  OrderedJson items = OrderedJson::array();
  for (std::size_t at = 0; at < std::min(limit, steps->size()); ++at) {
    items.push_back(ToJson((*steps)[at]));
  }
  OrderedJson next = nullptr;
  if (steps->size() > limit) {
    next = ToBase64Url(std::to_string(ToMicros((*steps)[limit - 1].start)));
  }
  if (AsCsv(request, query)) {
    return CsvPage(items, Format("{}-rank-{}.csv", job.name, ranks.front().rank),
                   next.is_null() ? "" : next.get<std::string>());
  }
  return JobReply(job, {{"rank", ranks.front().rank},
                        {"node", NullIfEmpty(ranks.front().node)},
                        {"items", items},
                        {"next", next}});
}

Result<Reply> ReadJobSteps(const Api&, Connection& connection, const Request& request,
                           const PathParameters& path) {
  const Query query(request, kStepQuery);
  if (!query.faults().empty()) return query.Refusal(request);
  const bool rows = query.Text("format") == "rows" || AsCsv(request, query);
  for (const char* name : {"cursor", "limit", "from_us", "to_us"}) {
    if (!rows && query.Has(name))
      return Query::Refuse(request, name, "only with format=rows or csv");
  }
  if (rows && query.Has("most"))
    return Query::Refuse(request, "most", "not with format=rows or csv");

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const auto ranks = FindRanks(connection, job->job_id, query.MaybeInt("rank"));
  if (!ranks) return ranks.error();
  if (query.Has("rank") && ranks->empty()) {
    return Query::Refuse(request, "rank", Format("the job has no rank {}", query.Text("rank")));
  }
  return rows ? AnswerRows(connection, request, *job, query, *ranks)
              : AnswerSummaries(connection, request, *job, query, *ranks);
}

}  // namespace

std::vector<Route> StepRoutes(const Api& api) {
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/jobs/{name}/steps", ReadJobSteps))};
}

}  // namespace stepscope
