// GET /jobs/{name}/windows/{id}/kernels and its like: answers that were computed when the trace
// came.

#include "server/trace/answers/answers.h"

#include <algorithm>

#include "core/base/text.h"
#include "server/api/http/answer.h"
#include "server/api/http/find_job.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/windows/trace_reads.h"
#include "server/api/windows/window_json.h"

namespace stepscope {
namespace {

constexpr std::string_view kOrders[] = {"time", "calls"};
constexpr std::string_view kYes[] = {"true", "false"};
constexpr QueryParameter kRank = {"rank", QueryParameter::kInteger, 0, 1'048'575};
constexpr QueryParameter kText = {"q", QueryParameter::kText, 1, 200};
constexpr QueryParameter kMost = {"limit", QueryParameter::kInteger, 1, 5'000};
constexpr QueryParameter kPlainQuery[] = {kRank};
constexpr QueryParameter kByQuery[] = {
    kRank, kText, kMost, {"by", QueryParameter::kWord, 0, 0, kOrders}};
constexpr QueryParameter kShapesQuery[] = {kRank,
                                           kText,
                                           kMost,
                                           {"by", QueryParameter::kWord, 0, 0, kOrders},
                                           {"shapes", QueryParameter::kWord, 0, 0, kYes}};

// A call of the API, and the answer that it reads.
struct AnswerCall {
  std::string_view path;  // behind the window
  std::string_view part;
  std::span<const QueryParameter> query;
};
constexpr AnswerCall kCalls[] = {
    {"breakdown", "breakdown", kPlainQuery},  {"kernels", "kernels", kByQuery},
    {"operators", "operators", kShapesQuery}, {"launches", "launches", kPlainQuery},
    {"copies", "copies", kPlainQuery},        {"communication", "communication", kPlainQuery},
    {"memory", "memory_use", kPlainQuery},    {"precision", "precision", kPlainQuery},
    {"calls", "calls", kPlainQuery},          {"what-if", "what_if", kPlainQuery},
    {"timeline", "tracks", kPlainQuery},
};

Result<OrderedJson> ReadAnswer(Connection& connection, std::int64_t job_id, const TraceRow& trace,
                               std::string_view part) {
  const auto parts = LoadParts(connection, job_id, trace.window_id, trace.rank, part);
  if (!parts) return parts.error();
  if (parts->empty()) {
    return NotFound(
        Format("this is not known of window {}: it is too old, or was stored by an older version",
               trace.window_id));
  }
  const Result<std::string> text = DecodeText(parts->front().payload, parts->front().size);
  if (!text) return Internal(text.error().message);
  OrderedJson json = OrderedJson::parse(*text, nullptr, false);
  if (json.is_discarded()) return Internal("an answer that is stored is no JSON");
  return json;
}

// Filters, sorts and shortens the rows of a list.
void Choose(const Query& query, std::string_view list, OrderedJson& answer) {
  const auto found = answer.find(std::string(list));
  if (list.empty() || found == answer.end()) return;
  OrderedJson rows = std::move(*found);
  const std::string wanted = LowerText(query.Text("q"));
  std::vector<OrderedJson> chosen;
  for (OrderedJson& row : rows) {
    if (wanted.empty() || LowerText(TextOf(row, "name")).find(wanted) != std::string::npos) {
      chosen.push_back(std::move(row));
    }
  }
  if (query.Text("by") == "calls") {
    std::ranges::stable_sort(chosen, [](const OrderedJson& one, const OrderedJson& other) {
      return one["calls"].get<std::int64_t>() > other["calls"].get<std::int64_t>();
    });
  }
  const std::size_t total = chosen.size();
  chosen.resize(std::min(total, static_cast<std::size_t>(query.Int("limit", 500))));
  *found = std::move(chosen);
  answer["total"] = total;
}

Result<Reply> ReadWindowAnswer(const AnswerCall& call, Connection& connection,
                               const Request& request, const PathParameters& path) {
  const Query query(request, call.query);
  if (!query.faults().empty()) return query.Refusal(request);

  const Result<JobRow> job = FindNamedJob(connection, path);
  if (!job) return job.error();
  const Result<std::int64_t> id = ReadId(path, "window");
  if (!id) return id.error();
  const auto trace = FindTrace(connection, job->job_id, *id, query.MaybeInt("rank"));
  if (!trace) return trace.error();
  std::string part(call.part);
  if (query.Text("shapes") == "true") part += "_by_shape";
  Result<OrderedJson> answer = ReadAnswer(connection, job->job_id, *trace, part);
  if (!answer) return answer.error();
  const auto row = std::ranges::find(TraceAnswers(), part, &AnswerRow::name);
  if (row != TraceAnswers().end() && call.query.size() > 1) Choose(query, row->list, *answer);

  OrderedJson json = {{"window", std::to_string(*id)}, {"rank", trace->rank}};
  for (auto& [key, value] : answer->items()) json[key] = std::move(value);
  return JobReply(*job, json);
}

}  // namespace

std::vector<Route> WindowAnswerRoutes(const Api& api) {
  static const std::vector<std::string> patterns = [] {
    std::vector<std::string> all;
    for (const AnswerCall& call : kCalls) {
      all.push_back(Format("/api/v1/jobs/{{name}}/windows/{{id}}/{}", call.path));
    }
    return all;
  }();
  std::vector<Route> routes;
  for (std::size_t i = 0; i < std::size(kCalls); ++i) {
    routes.push_back(ForDatabase(api, Right::kRead, "GET", patterns[i],
                                 [i](const Api&, Connection& connection, const Request& request,
                                     const PathParameters& path) {
                                   return ReadWindowAnswer(kCalls[i], connection, request, path);
                                 }));
  }
  for (const auto& further : {PixelRoutes(api), SpanRoutes(api), ComparisonRoutes(api)}) {
    routes.insert(routes.end(), further.begin(), further.end());
  }
  return routes;
}

}  // namespace stepscope
