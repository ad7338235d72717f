// GET /jobs/{name}: describe-job.

#include "server/api/jobs/job_description.h"

#include <algorithm>
#include <map>

#include "core/model/names.h"
#include "server/api/http/answer.h"
#include "server/api/http/query.h"
#include "server/api/jobs/kept_days.h"
#include "server/front/problem.h"
#include "server/report/page/diagnosis_answer.h"
#include "server/report/page/rule_answer.h"
#include "server/store/jobs/interval_requests.h"
#include "server/store/jobs/job_rows.h"
#include "server/store/rules/job_details.h"

namespace stepscope {
namespace {

constexpr std::size_t kMostRanksShown = 10'000;

using NodeNames = std::map<std::int64_t, std::string>;

// The facts without the members that have places of their own in the answer.
Json Further(Json facts, std::initializer_list<const char*> named) {
  if (!facts.is_object()) return Json::object();
  for (const char* name : named) facts.erase(name);
  return facts;
}

OrderedJson AbsentOf(const Json& facts) {
  OrderedJson list = OrderedJson::array();
  for (const Json& absent : MemberArray(facts, "absent")) {
    const Json source = MemberText(absent, "source"), reason = MemberText(absent, "reason");
    if (source.is_string() && reason.is_string()) {
      list.push_back({{"source", source}, {"reason", reason}});
    }
  }
  return list;
}

OrderedJson GpusOf(const Json& facts) {
  OrderedJson list = OrderedJson::array();
  for (const Json& gpu : MemberArray(facts, "gpus")) {
    if (gpu.is_object() || gpu.is_string()) list.push_back(OrderedJson(gpu));
  }
  return list;
}

// The suspicion lasts while the newest measurement confirms it.
OrderedJson ClockSuspectOf(const NodeRow& node) {
  if (!node.clock_suspect) return nullptr;
  const bool over = !IsSuspectOffset(node.clock_offset_us);
  OrderedJson json = OrderedJson::object();
  PutTime(json, "since", node.clock_suspect->since_us);
  PutTime(json, "until", over ? std::optional(node.clock_suspect->until_us) : std::nullopt);
  json["offset_us"] = node.clock_suspect->offset_us;
  return json;
}

OrderedJson ToJson(const NodeRow& node) {
  OrderedJson json = {{"name", node.name},
                      {"cores", MemberInteger(node.facts, "cores")},
                      {"memory_bytes", MemberInteger(node.facts, "memory_bytes")},
                      {"gpus", GpusOf(node.facts)}};
  PutTime(json, "last_seen", node.last_seen_us);
  PutTime(json, "ended", node.ended_us);
  json["exit_code"] = node.exit_code ? OrderedJson(*node.exit_code) : OrderedJson(nullptr);
  json["signal"] = node.exit_signal ? OrderedJson(*node.exit_signal) : OrderedJson(nullptr);
  json["clock_offset_us"] = node.clock_offset_us;
  json["round_trip_us"] = std::max<std::int64_t>(node.round_trip_us, 0);
  json["clock_suspect"] = ClockSuspectOf(node);
  json["absent"] = AbsentOf(node.facts);
  json["facts"] = Further(node.facts, {"cores", "memory_bytes", "gpus", "absent"});
  return json;
}

OrderedJson ToJson(const RankRow& rank, const NodeNames& nodes) {
  const auto node = nodes.find(rank.node_id);
  OrderedJson json = {{"rank", rank.rank},
                      {"node", NullIfEmpty(node == nodes.end() ? "" : node->second)}};
  for (const char* name : {"pid", "local_rank", "world_size"}) {
    json[name] = MemberInteger(rank.facts, name);
  }
  json["framework"] = MemberText(rank.facts, "framework");
  json["dropped"] = MemberInteger(rank.facts, "dropped");
  PutTime(json, "ended", rank.ended_us);
  json["facts"] = Further(rank.facts, {"pid", "local_rank", "world_size", "framework", "dropped"});
  return json;
}

OrderedJson FailureOf(const Json& failure) {
  if (!failure.is_object()) return nullptr;
  const auto kept = failure.find("output");
  OrderedJson output;
  if (kept != failure.end() && kept->is_array()) output = OrderedJson::array();
  for (const Json& line : MemberArray(failure, "output")) {
    if (line.is_string()) output.push_back(OrderedJson(line));
  }
  return {{"node", MemberText(failure, "node")},
          {"exit_code", MemberInteger(failure, "exit_code")},
          {"signal", MemberInteger(failure, "signal")},
          {"reason", MemberText(failure, "reason")},
          {"output", output}};
}

// In the order in which they happened, whatever the clocks said.
OrderedJson JobTransitions(std::vector<TransitionRow> transitions) {
  std::ranges::sort(transitions, {}, &TransitionRow::version);
  OrderedJson list = OrderedJson::array();
  for (const TransitionRow& transition : transitions) {
    if (transition.rule_config_id != 0) continue;  // a rule's transition
    OrderedJson json = {{"status", transition.status},
                        {"secondary_status", transition.secondary_status}};
    PutTime(json, "start_time", transition.at_us);
    json["message"] = transition.detail;
    list.push_back(json);
  }
  return list;
}

OrderedJson ConfigurationOf(const JobRow& job) {
  OrderedJson json = OrderedJson::object();
  json["interval_ms"] = IntervalMs(job.configuration);
  for (const char* name : {"tags", "rules"}) {
    if (job.configuration.contains(name)) json[name] = job.configuration[name];
  }
  json[kKeptDays] = MemberInteger(job.configuration, kKeptDays);
  return json;
}

// All of a job but its samples.
struct Description : JobDetails {
  JobRow job;
};

Result<Description> LoadDescription(Connection& connection, const std::string& name) {
  Result<JobRow> job = FindJob(connection, name);
  if (!job) return job.error();
  Result<JobDetails> details = LoadJobDetails(connection, job->job_id);
  if (!details) return details.error();
  return Description{std::move(*details), std::move(*job)};
}

// Only for a job that began before: the time is noted for other jobs, too.
std::optional<std::int64_t> SamplesFrom(const JobRow& job) {
  const std::int64_t began_us = job.started_us.value_or(job.created_us);
  return job.samples_from_us > began_us ? job.samples_from_us : std::nullopt;
}

// Facts that an answer of a bounded size has no room for, and ranks.
OrderedJson LeftOut(const Description& found) {
  const auto bare = [](const auto& row) { return row.facts.is_null(); };
  const std::size_t shown = std::min(found.ranks.size(), kMostRanksShown);
  return {{"facts_of_nodes", std::ranges::count_if(found.nodes, bare)},
          {"facts_of_ranks",
           std::ranges::count_if(found.ranks.begin(),
                                 found.ranks.begin() + static_cast<std::ptrdiff_t>(shown), bare)},
          {"ranks", found.ranks.size() - shown}};
}

OrderedJson ToJson(const Description& found, const std::string& url) {
  const JobRow& job = found.job;
  NodeNames names;
  for (const NodeRow& node : found.nodes) names[node.node_id] = node.name;
  OrderedJson json = {{"name", job.name},
                      {"group", job.group},
                      {"status", ToText(job.status)},
                      {"secondary_status", job.secondary_status}};
  PutTime(json, "created", job.created_us);
  PutTime(json, "started", job.started_us);
  PutTime(json, "ended", job.ended_us);
  PutTime(json, "samples_from", SamplesFrom(job));
  json["failure"] = FailureOf(job.failure);
  json["configuration"] = ConfigurationOf(job);
  for (const char* list : {"nodes", "ranks"}) json[list] = OrderedJson::array();
  for (const NodeRow& node : found.nodes) json["nodes"].push_back(ToJson(node));
  for (std::size_t i = 0; i < std::min(found.ranks.size(), kMostRanksShown); ++i)
    json["ranks"].push_back(ToJson(found.ranks[i], names));
  json["left_out"] = LeftOut(found);
  json["secondary_status_transitions"] = JobTransitions(found.transitions);
  OrderedJson rules = OrderedJson::array();
  for (const RuleStateRow& rule : found.rules) rules.push_back(ToJson(rule, found.transitions));
  json["profiler_rule_evaluation_statuses"] = rules;
  json["verdict"] = ToText(VerdictOf(found.rules));
  json["diagnosis"] = DiagnosisInShort(job, found.rules);
  json["url"] = url;
  return json;
}

}  // namespace

Result<Reply> DescribeJob(const Api& api, Connection& connection, const Request& request,
                          const PathParameters& path) {
  const Query query(request, {});
  const std::string& name = path.at("name");

  if (!query.faults().empty()) return query.Refusal(request);
  if (const Status good = CheckJobName(name); !good) return good.error();

  const Result<Description> found = LoadDescription(connection, name);
  if (!found) return found.error();

  return JobReply(found->job, ToJson(*found, JobUrl(api.public_url, name)));
}

}  // namespace stepscope
