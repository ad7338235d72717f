// GET /fleet: what the GPUs of all jobs were held for, as JSON or as a table.

#include "server/report/fleet/fleet.h"

#include <algorithm>
#include <array>
#include <span>

#include "core/base/json_members.h"
#include "server/api/http/answer.h"
#include "server/api/http/csv.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/http/shared_reply.h"
#include "server/report/fleet/fleet_json.h"
#include "server/report/fleet/idle_now.h"

namespace stepscope {
namespace {

constexpr std::string_view kFleetFormats[] = {"json", "csv"};
// Many people leave the page open, and it reads its numbers again each minute.
constexpr Duration kFleetFreshFor = 3s;

// Causes of lost time by name: all but the first one, busy.
std::span<const std::string_view> CauseNames() {
  static const auto kNames = [] {
    std::array<std::string_view, kCauses - 1> names;
    for (std::size_t i = 0; i < names.size(); ++i)
      names[i] = TextOf(static_cast<Cause>(i + 1)).name;
    return names;
  }();
  return kNames;
}

std::span<const QueryParameter> FleetParameters() {
  static const QueryParameter kParameters[] = {
      {"from", QueryParameter::kTime},
      {"to", QueryParameter::kTime},
      {"by", QueryParameter::kWord, 1, 1, kFleetWords},
      {"user", QueryParameter::kText, 1, 200},
      {"account", QueryParameter::kText, 1, 200},
      {"group", QueryParameter::kText, 1, 200},
      {"gpu", QueryParameter::kText, 1, 200},
      {"node", QueryParameter::kText, 1, 200},
      {"cause", QueryParameter::kWord, 1, 1, CauseNames()},
      {"format", QueryParameter::kWord, 1, 1, kFleetFormats},
      kLimitParameter,
  };
  return kParameters;
}
constexpr std::size_t kMostCsvRows = 100'000;

std::optional<std::string> MaybeText(const Query& query, std::string_view name) {
  return query.Has(name) ? std::optional(query.Text(name)) : std::nullopt;
}

FleetQuestion ToQuestion(const Query& query, const Caller& caller, std::int64_t now_us) {
  FleetQuestion question;
  question.to_us = query.MaybeTimeUs("to").value_or(now_us);
  question.from_us = query.MaybeTimeUs("from").value_or(question.to_us - kWeekUs);
  const std::string by = query.Has("by") ? query.Text("by") : "user";
  question.by = static_cast<FleetBy>(std::ranges::find(kFleetWords, by) - kFleetWords);
  question.user = MaybeText(query, "user");
  question.account = MaybeText(query, "account");
  question.group = MaybeText(query, "group");
  question.gpu = MaybeText(query, "gpu");
  question.node = MaybeText(query, "node");
  if (query.Has("cause")) {
    const auto names = CauseNames();
    const auto cause = std::ranges::find(names, query.Text("cause")) - names.begin();
    question.cause = static_cast<Cause>(cause + 1);
  }
  question.scopes = caller.scopes;
  question.rows = static_cast<std::size_t>(query.Int("limit", 100));
  return question;
}

Status AddSentences(Connection& connection, Fleet& fleet) {
  std::vector<std::int64_t> ids;
  for (const FleetLoss& job : fleet.jobs) ids.push_back(job.job_id);
  auto sentences = ReadJobSentences(connection, ids);
  if (!sentences.ok()) return sentences.error();
  for (auto& [job_id, sentence] : *sentences) {
    const auto job = std::ranges::find(fleet.jobs, job_id, &FleetLoss::job_id);
    if (job != fleet.jobs.end()) job->sentence = std::move(sentence);
  }
  return {};
}

std::vector<std::string_view> CsvColumns(std::string_view by) {
  std::vector<std::string_view> columns = {by};
  for (const std::string_view column :
       {"jobs", "running_jobs", "jobs_with_issues", "judged_jobs", "gpu_hours", "judged_gpu_hours",
        "busy_gpu_hours", "lost_gpu_hours", "not_judged_gpu_hours", "cost", "lost_cost",
        "first_cause"}) {
    columns.push_back(column);
  }
  for (std::size_t i = 1; i < kCauses; ++i) columns.push_back(TextOf(static_cast<Cause>(i)).name);
  return columns;
}

void AddRow(Csv& csv, const FleetRow& row) {
  const FleetSums& sums = row.sums;
  csv.Text(row.key).Int(sums.jobs).Int(sums.running).Int(sums.with_issues).Int(sums.judged_jobs);
  for (const double seconds : {sums.held, sums.judged, sums.busy, sums.Lost(), sums.NotJudged()}) {
    csv.Real(seconds / 3600);
  }
  for (const double cost : {sums.cost, sums.lost_cost}) {
    sums.priced > 0 ? csv.Real(cost, 2) : csv.None();
  }
  const auto first = sums.FirstCause();
  csv.Text(first ? TextOf(*first).name : "");
  for (std::size_t i = 1; i < kCauses; ++i) csv.Real(sums.lost.seconds[i] / 3600);
  csv.EndRow();
}

Reply ToCsv(const Fleet& fleet, std::string_view by) {
  Csv csv(CsvColumns(by));
  for (const FleetRow& row : fleet.rows) AddRow(csv, row);
  return std::move(csv).ToReply("fleet.csv");
}

Result<Reply> ReadFleet(const Api& api, Connection& connection, const Request& request,
                        const PathParameters&) {
  const Query query(request, FleetParameters());
  if (!query.faults().empty()) return query.Refusal(request);
  const std::int64_t now_us = ToMicros(api.clock.Now());
  FleetQuestion question = ToQuestion(query, *request.caller, now_us);
  if (question.from_us >= question.to_us) {
    return Query::Refuse(request, "from", "is not before the end of the span");
  }
  const bool csv = WantsCsv(request, query.Text("format"));
  if (csv) question.rows = kMostCsvRows;
  if (csv) question.jobs = question.grid_rows = 0;

  if (const Status fresh = api.fleet.Refresh(connection); !fresh) return fresh.error();
  RunningJobs running;
  Fleet fleet = api.fleet.Read([&](const FleetJobs& jobs) {
    if (!csv) running = ListRunningJobs(jobs, question);
    return SumFleet(jobs, question);
  });
  if (csv) return ToCsv(fleet, kFleetWords[static_cast<std::size_t>(question.by)]);
  if (const Status added = AddSentences(connection, fleet); !added) return added.error();
  const auto idle = ReadIdleNow(connection, running, question);
  if (!idle.ok()) return idle.error();
  OrderedJson json = ToJson(fleet, question);
  json["idle_now"] = ToJson(*idle);
  PutTime(json, "as_of", now_us);
  return JsonReply(json);
}

}  // namespace

std::vector<Route> FleetRoutes(const Api& api) {
  return {Shared(kFleetFreshFor, api.clock,
                 Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/fleet", ReadFleet)))};
}

}  // namespace stepscope
