// GET /compare: two jobs beside each other, and what differs.

#include <algorithm>
#include <map>
#include <set>

#include "core/base/json_members.h"
#include "core/base/text.h"
#include "core/model/names.h"
#include "server/access/scope.h"
#include "server/api/http/answer.h"
#include "server/api/http/csv.h"
#include "server/api/http/query.h"
#include "server/api/http/routes.h"
#include "server/api/jobs/compare_parts.h"
#include "server/api/jobs/fact_words.h"
#include "server/api/jobs/job_summary.h"
#include "server/front/denial.h"
#include "server/report/measure/rank_summaries.h"
#include "server/report/measure/step_change.h"
#include "server/report/page/diagnosis_answer.h"
#include "server/store/rules/job_details.h"

namespace stepscope {
namespace {

constexpr std::string_view kCompareFormats[] = {"json", "csv"};
constexpr QueryParameter kCompareQuery[] = {
    {"a"}, {"b"}, {"format", QueryParameter::kWord, 1, 1, kCompareFormats}};
constexpr std::size_t kMostFacts = 100;
constexpr std::int64_t kHourUs = 3'600'000'000;

// What is read of one of the two jobs.
struct Side {
  JobRow job;
  JobSummary summary;
  std::vector<NodeRow> nodes;
  std::vector<RankRow> ranks;
  std::vector<RuleStateRow> rules;
  std::optional<RankSummary> steps;  // of its first rank
};

std::size_t GpusOf(const NodeRow& node) {
  return MemberArray(node.facts, "gpus").size();
}

std::size_t GpusOf(const Side& side) {
  std::size_t gpus = 0;
  for (const NodeRow& node : side.nodes) gpus += GpusOf(node);
  return gpus;
}

Result<Side> Load(const Api& api, Connection& connection, const std::string& name) {
  Side side;
  const auto take = [](auto from, auto& to) -> Status {
    if (!from) return from.error();
    to = std::move(*from);
    return {};
  };
  if (const Status good = CheckJobName(name); !good) return good.error();
  if (const Status read = take(FindJob(connection, name), side.job); !read) return read.error();
  const std::int64_t id = side.job.job_id;
  Status read = take(api.summaries.Of(connection, side.job), side.summary);
  JobDetails details;
  if (read) read = take(LoadJobDetails(connection, id), details);
  if (!read) return read.error();
  side.nodes = std::move(details.nodes);
  side.ranks = std::move(details.ranks);
  side.rules = std::move(details.rules);
  if (side.ranks.empty()) return side;
  const RankOnNode first[] = {{side.ranks.front().rank, ""}};
  read = ForEachSummary(connection, id, first, 50,
                        [&](const RankSummary& summary) { side.steps = summary; });
  if (!read) return read.error();
  return side;
}

OrderedJson Maybe(std::optional<double> value) {
  return value ? OrderedJson(Rounded(*value)) : OrderedJson(nullptr);
}

// The time from the start of the job to its end, or to now while it runs.
std::optional<std::int64_t> RunUs(const JobRow& job, std::int64_t now_us) {
  if (!job.started_us) return std::nullopt;
  return std::max<std::int64_t>(0, job.ended_us.value_or(now_us) - *job.started_us);
}

bool HasSteps(const Side& side) {
  return side.steps && side.steps->steps.count > 0;
}

OrderedJson ToJson(const Side& side, std::int64_t now_us) {
  const JobRow& job = side.job;
  const std::optional<std::int64_t> run_us = RunUs(job, now_us);
  const std::size_t gpus = GpusOf(side);
  OrderedJson json = {{"name", job.name}, {"group", job.group}, {"status", ToText(job.status)}};
  PutTime(json, "created", job.created_us);
  json["duration_seconds"] = run_us ? OrderedJson(double(*run_us) / 1e6) : OrderedJson(nullptr);
  json["nodes"] = side.nodes.size();
  json["gpus"] = gpus;
  json["ranks"] = side.ranks.size();
  json["gpu_hours"] = run_us ? Maybe(double(gpus) * double(*run_us) / kHourUs) : nullptr;
  PutMoney(json, gpus > 0 ? PriceOf(side.rules) : std::nullopt, gpus,
           run_us ? std::optional(double(*run_us) / 1e6) : std::nullopt,
           HasSteps(side) ? std::optional(side.steps->steps.mean) : std::nullopt);
  json["mean_gpu_util_percent"] = Maybe(side.summary.mean_gpu_percent);
  json["mean_cpu_util_percent"] = Maybe(side.summary.mean_cpu_percent);
  json["gpu_util_percent"] = PartsOf(side.summary.gpu);
  json["cpu_util_percent"] = PartsOf(side.summary.cpu);
  json["verdict"] = ToText(VerdictOf(side.rules));
  return json;
}

OrderedJson StepsOf(const Side& side) {
  if (!HasSteps(side)) return nullptr;
  const StepFigures& steps = side.steps->steps;
  return {{"rank", side.steps->of.rank},
          {"steps", steps.count},
          {"mean_seconds", Rounded(steps.mean, 9)},
          {"p50_seconds", Rounded(steps.p50, 9)},
          {"p95_seconds", Rounded(steps.p95, 9)},
          {"line", LineOf(steps.curve, side.job.started_us)},
          {"histogram", HistogramOf(steps)}};
}

// The mean step times of the points of the curve, in the order of time.
std::vector<double> CurveOf(const Side& side) {
  std::vector<double> seconds;
  if (!HasSteps(side)) return seconds;
  for (const StepPoint& point : side.steps->steps.curve.points()) {
    if (point.count > 0) seconds.push_back(double(point.wall_ns) / double(point.count) / 1e9);
  }
  return seconds;
}

OrderedJson ToJson(const StepChange& change) {
  const bool known = change.kind != StepChange::kNotEnough;
  const auto number = [&](double value) { return known ? OrderedJson(Rounded(value)) : nullptr; };
  return {{"verdict", ToText(change.kind)},      {"material", change.material},
          {"percent", number(change.percent)},   {"low_percent", number(change.low)},
          {"high_percent", number(change.high)}, {"noise_percent", number(change.noise_percent)},
          {"sentence", SentenceOf(change)}};
}

// Seconds of each phase in a step, on average.
std::map<std::string, double> PhasesOf(const Side& side) {
  std::map<std::string, double> seconds;
  if (!HasSteps(side)) return seconds;
  const StepFigures& steps = side.steps->steps;
  for (const auto& sum : steps.phases) {
    seconds[std::string(sum.phase)] = sum.seconds / double(steps.count);
  }
  return seconds;
}

// The share of each cause in the time of the job.
std::map<std::string, double> SharesOf(const Side& side,
                                       std::map<std::string, std::string>& words) {
  std::map<std::string, double> shares;
  const OrderedJson diagnosis = DiagnosisInShort(side.job, side.rules);
  if (!diagnosis.is_object()) return shares;
  for (const OrderedJson& row : diagnosis["budget"]) {
    const std::string cause = TextOf(row, "cause");
    words[cause] = TextOf(row, "words");
    if (row["share"].is_number()) shares[cause] = row["share"].get<double>();
  }
  return shares;
}

OrderedJson Member(const std::map<std::string, double>& of, const std::string& key, int decimals) {
  const auto found = of.find(key);
  return found == of.end() ? OrderedJson(nullptr) : OrderedJson(Rounded(found->second, decimals));
}

template <typename Value>
std::set<std::string> KeysOf(const std::map<std::string, Value>& a,
                             const std::map<std::string, Value>& b) {
  std::set<std::string> keys;
  for (const auto* of : {&a, &b}) {
    for (const auto& [key, value] : *of) keys.insert(key);
  }
  return keys;
}

OrderedJson ComparePhases(const Side& a, const Side& b) {
  const auto of_a = PhasesOf(a), of_b = PhasesOf(b);
  OrderedJson rows = OrderedJson::array();
  for (const std::string& phase : KeysOf(of_a, of_b)) {
    rows.push_back({{"phase", phase},
                    {"a_seconds", Member(of_a, phase, 9)},
                    {"b_seconds", Member(of_b, phase, 9)}});
  }
  return rows;
}

OrderedJson CompareBudgets(const Side& a, const Side& b) {
  std::map<std::string, std::string> words;
  const auto of_a = SharesOf(a, words), of_b = SharesOf(b, words);
  OrderedJson rows = OrderedJson::array();
  for (const std::string& cause : KeysOf(of_a, of_b)) {
    rows.push_back({{"cause", cause},
                    {"words", words[cause]},
                    {"a_share", Member(of_a, cause, 4)},
                    {"b_share", Member(of_b, cause, 4)}});
  }
  return rows;
}

// "issues", "none" or "unknown" for each rule of a job.
std::map<std::string, std::string> FoundBy(const Side& side) {
  std::map<std::string, std::string> found;
  for (const RuleStateRow& rule : side.rules) {
    const std::string kind = TextOf(rule.verdict, "kind");
    const bool issues = rule.status == RuleStatus::kIssuesFound;
    found[rule.config.name] = issues ? "issues" : kind == "clear" ? "none" : "unknown";
  }
  return found;
}

// How a job ran: what it was told, its first node and its first rank.
Facts FactsOf(const Side& side) {
  Facts facts = {{"nodes", std::to_string(side.nodes.size())},
                 {"GPUs", std::to_string(GpusOf(side))},
                 {"ranks", std::to_string(side.ranks.size())}};
  PutFacts("job: ", side.job.configuration, facts);
  if (!side.nodes.empty()) PutFacts("node: ", side.nodes.front().facts, facts);
  if (!side.ranks.empty()) PutFacts("rank: ", side.ranks.front().facts, facts);
  return facts;
}

// The keys whose texts differ, with both texts; null where a side does not have the key.
OrderedJson Differing(const char* name, const std::map<std::string, std::string>& a,
                      const std::map<std::string, std::string>& b) {
  const auto text = [](const auto& of, const std::string& key) {
    const auto found = of.find(key);
    return found == of.end() ? OrderedJson(nullptr) : OrderedJson(found->second);
  };
  OrderedJson rows = OrderedJson::array();
  for (const std::string& key : KeysOf(a, b)) {
    if (text(a, key) == text(b, key) || rows.size() >= kMostFacts) continue;
    rows.push_back({{name, key}, {"a", text(a, key)}, {"b", text(b, key)}});
  }
  return rows;
}

// What differs of how the jobs ran. Parameters of a rule that judges only one of them do not count:
// the list of rules says that.
OrderedJson DifferingFacts(const Side& a, const Side& b) {
  OrderedJson rows = Differing("what", FactsOf(a), FactsOf(b));
  for (OrderedJson& row : Differing("what", ParametersOf(a.rules), ParametersOf(b.rules))) {
    const bool both = !row["a"].is_null() && !row["b"].is_null();
    if (both && rows.size() < kMostFacts) rows.push_back(std::move(row));
  }
  return rows;
}

OrderedJson Compared(const Side& a, const Side& b, std::int64_t now_us) {
  return {{"a", ToJson(a, now_us)},
          {"b", ToJson(b, now_us)},
          {"steps",
           {{"a", StepsOf(a)},
            {"b", StepsOf(b)},
            {"change", ToJson(CompareSteps(CurveOf(a), CurveOf(b)))}}},
          {"phases", ComparePhases(a, b)},
          {"budget", CompareBudgets(a, b)},
          {"rules", Differing("rule_configuration_name", FoundBy(a), FoundBy(b))},
          {"differs", DifferingFacts(a, b)}};
}

Result<Reply> CompareJobs(const Api& api, Connection& connection, const Request& request,
                          const PathParameters&) {
  const Query query(request, kCompareQuery);
  if (!query.faults().empty()) return query.Refusal(request);
  for (const char* side : {"a", "b"}) {
    if (!query.Has(side)) return Query::Refuse(request, side, "names no job");
    const std::string name = query.Text(side);
    if (!Covers(request.caller->scopes, name)) {
      return Forbid(request, Format("the token is not for job {}", Printable(name, 64)));
    }
  }
  const Result<Side> a = Load(api, connection, query.Text("a"));
  if (!a) return a.error();
  const Result<Side> b = Load(api, connection, query.Text("b"));
  if (!b) return b.error();
  const OrderedJson compared = Compared(*a, *b, ToMicros(api.clock.Now()));
  return WantsCsv(request, query.Text("format")) ? ComparisonCsv(compared) : JsonReply(compared);
}

}  // namespace

std::vector<Route> CompareRoutes(const Api& api) {
  return {Bulk(ForDatabase(api, Right::kRead, "GET", "/api/v1/compare", CompareJobs))};
}

}  // namespace stepscope
